// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"slices"

	"github.com/gvw-project/gvw/internal/wire"
)

// IsMember reports whether a rank is among the members, which are in ascending order.
func IsMember(live []int, rank int) bool {
	_, ok := slices.BinarySearch(live, rank)
	return ok
}

// Members names the ranks that take part in an elastic job: all but those that were missing at its
// start. In the zero value this is not decided yet. The decision is final for the job.
type Members struct {
	Decided      bool
	ExcludedBits string // one bit per excluded rank, rank 0 the lowest bit of the first byte; "": none is excluded
}

// MembersWithout returns the decision that excludes these ranks, given in ascending order.
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

// Excluded returns the excluded ranks below total, in ascending order.
func (r Members) Excluded(total int) (missing []int) {
	for rank := range min(total, 8*len(r.ExcludedBits)) {
		if r.ExcludedBits[rank/8]>>(rank%8)&1 != 0 {
			missing = append(missing, rank)
		}
	}
	return missing
}

// Included returns the members below total, in ascending order.
func (r Members) Included(total int) (live []int) {
	for rank := range total {
		if rank/8 >= len(r.ExcludedBits) || r.ExcludedBits[rank/8]>>(rank%8)&1 == 0 {
			live = append(live, rank)
		}
	}
	return live
}

func (r *Members) code(c *wire.Coder) {
	c.Flag("decided", &r.Decided)
	c.Blob("excluded", MaxRanksLimit/8, &r.ExcludedBits)
}

// ElasticError is a setting that a job cannot have if it starts without missing ranks.
type ElasticError struct {
	Field  string // of allreduce.Config: "OnLoss" or "Job.RunKey"
	Reason string // with what is needed
}

func (e *ElasticError) Error() string { return e.Field + ": " + e.Reason }

// CheckElastic returns the settings that prevent a job from starting without missing ranks; nil
// if there are none. An excluded rank may start late: its attempt then needs a job that admits
// standbys. After the end it needs a run key, by which the server finds the finished run.
func CheckElastic(policy OnLoss, runKey string) (faults []*ElasticError) {
	if policy == Abort {
		faults = append(faults, &ElasticError{"OnLoss", "an elastic job needs another policy than abort: attempts of excluded ranks become standbys"})
	}
	if runKey == "" {
		faults = append(faults, &ElasticError{"Job.RunKey", "an elastic job needs a run key: a rank that joins after the end would start the job again"})
	}
	return faults
}
