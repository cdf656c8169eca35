// SPDX-License-Identifier: Apache-2.0

package spantree

import (
	"slices"
)

// partOf says that a rank is one of these.
func partOf(live []int, rank int) bool {
	_, ok := slices.BinarySearch(live, rank)
	return ok
}

// roster says who takes part in a job that does not wait for ranks that have not come:
// all but those that were missing when it was decided. The zero value: it has not been.
type roster struct {
	Decided bool
	Without string // a bit for each rank, the lowest of the first byte for rank 0; "": all take part
}

// rosterWithout is the one of a job that goes without these ranks.
func rosterWithout(missing []int) roster {
	r := roster{Decided: true}
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

// missing are the ranks below total that do not take part.
func (r roster) missing(total int) (missing []int) {
	for rank := range min(total, 8*len(r.Without)) {
		if r.Without[rank/8]>>(rank%8)&1 != 0 {
			missing = append(missing, rank)
		}
	}
	return missing
}

// live are those that do.
func (r roster) live(total int) (live []int) {
	for rank := range total {
		if rank/8 >= len(r.Without) || r.Without[rank/8]>>(rank%8)&1 == 0 {
			live = append(live, rank)
		}
	}
	return live
}

func (r *roster) code(c *coder) {
	c.flag("decided", &r.Decided)
	c.blob("without", maxRanksLimit/8, &r.Without)
}
