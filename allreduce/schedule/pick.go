// SPDX-License-Identifier: Apache-2.0

package schedule

// Pick is the schedule that Auto stands for: a function of Size and Bytes alone, as
// it decides the order of additions.
func (s Spec) Pick() Name {
	switch {
	case s.Bytes <= 64<<10:
		return Doubling
	case s.Bytes <= 4<<20 || s.Size&(s.Size-1) == 0:
		return Halving
	}
	return Ring
}
