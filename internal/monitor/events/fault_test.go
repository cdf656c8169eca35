// SPDX-License-Identifier: Apache-2.0

package events

import "testing"

// Each fault has a name of its own, which is read back.
func TestFaultsHaveNames(t *testing.T) {
	for f := FaultUnknown; f <= FaultJournal; f++ {
		var got Fault
		if text, err := f.MarshalText(); err != nil || got.UnmarshalText(text) != nil || got != f {
			t.Errorf("fault %d: got %d from %q, %v", f, got, text, err)
		}
	}
	if got := Fault(200).String(); got != "fault 200" {
		t.Errorf("got %q", got)
	}
	if err := new(Fault).UnmarshalText([]byte("gremlins")); err == nil {
		t.Error("a fault without a name is accepted")
	}
}
