// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"slices"
)

// PartOf says that a rank is one of these.
func IsMember(live []int, rank int) bool {
	_, ok := slices.BinarySearch(live, rank)
	return ok
}

// Roster says who takes part in a job that does not wait for ranks that have not come:
// all but those that were missing when it was decided. The zero value: it has not been.
type Members struct {
	Decided      bool
	ExcludedBits string // a bit for each rank, the lowest of the first byte for rank 0; "": all take part
}

// RosterWithout is the one of a job that goes without these ranks.
func MembersWithout(missing []int) Members {
	r := Members{Decided: true}
	if len(missing) == 0 {
		return r
	}
	bits := make([]byte, missing[len(missing)-1]/8+1)
	for _, rank := range missing {
		bits[rank/8] |= 1 << (rank % 8)
	}
	r.ExcludedBits = string(bits)
	return r
}

// Missing are the ranks below total that do not take part.
func (r Members) Excluded(total int) (missing []int) {
	for rank := range min(total, 8*len(r.ExcludedBits)) {
		if r.ExcludedBits[rank/8]>>(rank%8)&1 != 0 {
			missing = append(missing, rank)
		}
	}
	return missing
}

// Live are those that do.
func (r Members) Included(total int) (live []int) {
	for rank := range total {
		if rank/8 >= len(r.ExcludedBits) || r.ExcludedBits[rank/8]>>(rank%8)&1 == 0 {
			live = append(live, rank)
		}
	}
	return live
}

func (r *Members) code(c *coder) {
	c.flag("decided", &r.Decided)
	c.blob("excluded", MaxRanksLimit/8, &r.ExcludedBits)
}

// ElasticError is a setting that a job cannot have if it starts without missing ranks.
type ElasticError struct {
	Field  string // of allreduce.Config: "OnLoss" or "Job.RunKey"
	Reason string // with what is needed
}

func (e *ElasticError) Error() string { return e.Field + ": " + e.Reason }

// CheckElastic returns the settings that prevent a job from starting without missing ranks; nil
// if there are none. An excluded rank may start late: its attempt then needs a job that admits
// standbys. After the end it needs a run key by which the server knows the finished run.
func CheckElastic(policy OnLoss, runKey string) (faults []*ElasticError) {
	if policy == Abort {
		faults = append(faults, &ElasticError{"OnLoss", "an elastic job needs wait or shrink: attempts of excluded ranks become standbys"})
	}
	if runKey == "" {
		faults = append(faults, &ElasticError{"Job.RunKey", "an elastic job needs a run key: a rank that joins after the end would start the job again"})
	}
	return faults
}
