// SPDX-License-Identifier: Apache-2.0

package mesh

import (
	"fmt"
	"time"

	"github.com/gvw-project/gvw/allreduce/address"
	"github.com/gvw-project/gvw/internal/members"
)

const (
	// unreachableAfter is the number of attempts after which a loopback address is known not
	// to lead to a rank of another machine.
	unreachableAfter = 10
	// unansweredFor is the least time without any listener at the address of a rank after which
	// the rank is unreachable, in an epoch that follows another one.
	unansweredFor = 20 * time.Second
)

// view returns what is known of a rank's addresses. In a job with vw workers that is nothing.
func (e *Epoch) view(rank int) address.View {
	v := address.View{Rank: rank}
	if e.wiring.Stream {
		return v
	}
	v.Advertised, v.Observed = e.wiring.Address(rank), e.wiring.Seen(rank)
	return v
}

// advice returns a remedy for the case that the rank from cannot reach the rank of, as the
// last part of an error.
func (e *Epoch) advice(of, from int) string {
	if e.wiring.Stream {
		return ""
	}
	return "; " + e.view(of).Advice(e.view(from))
}

// notReached records why an attempt has failed. It returns an error if further attempts are
// useless. If the connection belongs to the tree, Connect then fails with it. unanswered is the
// time since an attempt last found a listener. An epoch that follows another one has no other
// limit.
func (e *Epoch) notReached(rank, tries int, unanswered time.Duration, err error) error {
	final := !e.wiring.Stream && tries >= unreachableAfter && e.view(rank).Unreachable(e.view(e.cfg.Rank))
	final = final || e.Later && unanswered > max(unansweredFor, e.Unanswered)
	if final {
		err = fmt.Errorf("rank %d: cannot reach rank %d: %w%s", e.cfg.Rank, rank, err, e.advice(rank, e.cfg.Rank))
	}
	e.update(func() {
		e.why[rank] = err
		if final && e.take == nil {
			e.fault, e.lost = err, rank
		}
	})
	if final {
		return err
	}
	return nil
}

// Unreachable returns the rank because of which Connect has failed: the one that cannot be reached, or
// the first neighbour without a connection when ctx ended. It is schedule.None if there is none.
func (e *Epoch) Unreachable() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.lost
}

// WhyMissing returns why the connection to a rank is not open, as far as this rank knows.
func (e *Epoch) WhyMissing(rank int) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch err := e.why[rank]; {
	case err != nil:
		return err.Error()
	case e.dials(e.cfg.Rank, rank):
		return "it has not answered"
	}
	return "it has not connected"
}

// missing describes the neighbours that are not connected yet.
func (e *Epoch) missing() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	parent := e.parent()
	var names []string
	for _, rank := range e.lacking() {
		switch {
		case !e.wiring.Stream:
			names = append(names, e.absent(rank))
		case rank == parent:
			names = append(names, "the parent at "+e.wiring.Parent)
		default:
			names = append(names, "a child")
		}
	}
	return fmt.Sprint(names)
}

// absent describes a neighbour that is not connected yet. The lock is held.
func (e *Epoch) absent(rank int) string {
	name := members.Name(rank, e.wiring.Address(rank))
	if !e.dials(e.cfg.Rank, rank) {
		return name + ", which has not connected" + e.advice(e.cfg.Rank, rank)
	}
	if err := e.why[rank]; err != nil {
		name += fmt.Sprintf(", which this rank has not reached: %v", err)
	}
	return name + e.advice(rank, e.cfg.Rank)
}
