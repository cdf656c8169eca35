// SPDX-License-Identifier: Apache-2.0

package vectorio

import "testing"

// TestDefaultsAndFaults: only zero fields get defaults, which have no faults.
func TestDefaultsAndFaults(t *testing.T) {
	types := []string{"f32", "f64"}
	for _, c := range []struct {
		element, wantElement string
		most, wantMost       int
		badType, badMax      bool
	}{
		{"", "f64", 0, 1 << 30, false, false},
		{"f32", "f32", 5, 5, false, false},
		{"f16", "f16", -1, -1, true, true},
	} {
		element, most := c.element, c.most
		SetDefaults(&element, &most)
		if element != c.wantElement || most != c.wantMost {
			t.Errorf("%q, %d: got %q and %d, want %q and %d", c.element, c.most, element, most, c.wantElement, c.wantMost)
		}
		if err := CheckType(element, types); (err != nil) != c.badType {
			t.Errorf("type %q: got %v", element, err)
		}
		if err := CheckMax(most); (err != nil) != c.badMax {
			t.Errorf("limit %d: got %v", most, err)
		}
	}
}
