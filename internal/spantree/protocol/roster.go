// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"slices"
)

// PartOf says that a rank is one of these.
func PartOf(live []int, rank int) bool {
	_, ok := slices.BinarySearch(live, rank)
	return ok
}

// Roster says who takes part in a job that does not wait for ranks that have not come:
// all but those that were missing when it was decided. The zero value: it has not been.
type Roster struct {
	Decided bool
	Without string // a bit for each rank, the lowest of the first byte for rank 0; "": all take part
}

// RosterWithout is the one of a job that goes without these ranks.
func RosterWithout(missing []int) Roster {
	r := Roster{Decided: true}
	if len(missing) == 0 {
		return r
	}
	bits := make([]byte, missing[len(missing)-1]/8+1)
	for _, rank := range missing {
		bits[rank/8] |= 1 << (rank % 8)
	}
	r.Without = string(bits)
	return r
}

// Missing are the ranks below total that do not take part.
func (r Roster) Missing(total int) (missing []int) {
	for rank := range min(total, 8*len(r.Without)) {
		if r.Without[rank/8]>>(rank%8)&1 != 0 {
			missing = append(missing, rank)
		}
	}
	return missing
}

// Live are those that do.
func (r Roster) Live(total int) (live []int) {
	for rank := range total {
		if rank/8 >= len(r.Without) || r.Without[rank/8]>>(rank%8)&1 == 0 {
			live = append(live, rank)
		}
	}
	return live
}

func (r *Roster) code(c *coder) {
	c.flag("decided", &r.Decided)
	c.blob("without", MaxRanksLimit/8, &r.Without)
}
