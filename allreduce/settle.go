// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"time"

	"github.com/gvw-project/gvw/allreduce/spantree"
)

const (
	// serverItself is the rank of failures that the server has found.
	serverItself = -1
	// verdictWithin is how long a rank waits for the server to say who is to blame.
	verdictWithin = 2 * time.Second
	// detailWithin is how long a rank waits for the details of such a verdict.
	detailWithin = 200 * time.Millisecond
	// tellWithin is how long it tries to tell the server.
	tellWithin = time.Second
)

// settle finds the root cause of the first failure that this rank has seen,
// so that all ranks return the same one: the server's verdict, if there is one in
// time. Then it ends the edges.
func (g *Group) settle(first *failure) {
	f := first
	switch {
	case f.code == faultLeft:
	case f.by == g.cfg.Rank && f.code != faultLost:
		// This rank has found it; the server tells everybody.
		g.tellServer(f)
		f = g.weigh(f)
	case !g.awaitVerdict(verdictWithin):
		g.tellServer(f)
		f = g.weigh(f)
	default:
		f = g.weigh(f)
	}
	g.mu.Lock()
	g.verdict = f
	g.mu.Unlock()
	if g.wirer != nil {
		g.wirer.close()
	}
	g.engine.driver.stop()
	close(g.settled)
}

// tellServer reports a failure, and waits for the verdict that follows it.
func (g *Group) tellServer(f *failure) {
	if g.member == nil || g.isOver() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), tellWithin)
	defer cancel()
	if err := g.member.Fail(ctx, f.reason()); err != nil {
		g.log.Warn("cannot tell the server why this rank gives up", "rank", g.cfg.Rank, "reason", f.reason(), "error", err)
		return
	}
	g.awaitVerdict(tellWithin)
}

func (g *Group) isOver() bool {
	select {
	case <-g.member.Over():
		return true
	default:
		return false
	}
}

// awaitVerdict waits for the server's verdict. vw's own server gives none.
func (g *Group) awaitVerdict(within time.Duration) bool {
	if g.member == nil || g.wiring != nil && g.wiring.Epoch == (spantree.Epoch{}) {
		return false
	}
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-g.member.Over():
		return true
	case <-timer.C:
		return false
	case <-g.closing:
		return g.isOver()
	}
}

// weigh chooses between what was seen here, or heard from a neighbour, and the
// server's verdict. The verdict wins, unless it only repeats, with less detail, what
// was found by the rank from which this one has it, or by the other of two ranks
// that disagree.
func (g *Group) weigh(f *failure) *failure {
	if g.member == nil || !g.isOver() {
		return f
	}
	v := verdictOf(g.member.Cause())
	if v.code == faultGaveUp && (v.rank == f.by || f.code == faultMismatch && v.rank == f.rank) {
		return f
	}
	return v
}

// failed is the error that a collective returns after a failure: once the
// verdict stands and nothing touches the caller's memory any more.
func (g *Group) failed() error {
	<-g.settled // bounded: verdictWithin and tellWithin
	en := &g.engine
	en.join()
	g.mu.Lock()
	f := g.verdict
	g.mu.Unlock()
	en.mu.Lock()
	w := en.where
	en.where = Where{Rank: w.Rank} // a later collective did not fail in this one
	en.mu.Unlock()
	return f.public(w)
}

// Fail tells the others that this rank gives up, and why: it is the root cause that
// they return. After a failure of the job it does nothing.
func (g *Group) Fail(ctx context.Context, err error) {
	if g.member == nil || g.isClosed() || err == nil {
		return
	}
	f := &failure{code: faultGaveUp, by: g.cfg.Rank, rank: g.cfg.Rank, text: err.Error(), err: err}
	if g.wiring == nil {
		g.tellServer(f) // which tells those that wait for the job to start
		return
	}
	en := &g.engine
	en.mu.Lock()
	ending := en.ending && en.failure == nil
	en.mu.Unlock()
	if ending {
		g.tellServer(f) // the others wait for its BYE, and for nothing else
		return
	}
	en.fail(f, nil)
	select {
	case <-g.settled:
	case <-ctx.Done():
	}
}
