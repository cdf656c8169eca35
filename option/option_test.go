// SPDX-License-Identifier: Apache-2.0

package option

import "testing"

func TestOption(t *testing.T) {
	for name, c := range map[string]struct {
		option Option[int]
		want   int
	}{
		"zero":                   {Option[int]{}, 7},
		"not set, with a value":  {Option[int]{Value: 3}, 7},
		"set":                    {Some(3), 3},
		"set to the zero value":  {Some(0), 0},
		"set to the default":     {Some(7), 7},
		"set without a function": {Option[int]{Value: 4, Set: true}, 4},
	} {
		if got := c.option.Or(7); got != c.want {
			t.Errorf("%s: Or(7) = %d, want %d", name, got, c.want)
		}
	}
}
