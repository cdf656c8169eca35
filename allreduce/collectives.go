// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"fmt"
	"time"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/allreduce/internal/epoch"
	"github.com/gvw-project/gvw/internal/timeline"
)

// call returns a collective over v. Its result and contribution are v unless the caller sets others.
func (g *Group) call(verb engine.Verb, v Vector, root int) epoch.Collective {
	b := v.bytes()
	return epoch.Collective{Verb: verb, Kind: v.kind, N: v.n, Name: v.name, Root: root, Dst: b, Src: b, Schedule: g.cfg.Schedule}
}

// do enters and carries out a collective. inStream means that the collective exists in vw's
// stream too.
func (g *Group) do(ctx context.Context, c epoch.Collective, inStream bool) error {
	if err := g.enter(ctx, c.Verb, inStream); err != nil {
		return err
	}
	defer g.busy.Store(false)
	if g.Size() == 1 {
		copy(c.Dst, c.Src)
		return nil
	}
	if g.Stream() && len(c.Dst) == 0 {
		return nil // in vw's stream an empty vector has no bytes, not even a header
	}
	defer g.record(c, g.timeline.Now())
	return g.epoch.Carry(ctx, c)
}

// record records a collective that ends now.
func (g *Group) record(c epoch.Collective, began time.Time) {
	if g.timeline != nil {
		g.timeline.Span(timeline.Collectives, c.Verb.String()+" "+c.Name, began, len(c.Dst))
	}
}

// enter begins a collective. It wires the job if necessary, and refuses a collective that does
// not exist in vw's stream if the job uses it. If enter returns nil, the caller clears busy at
// the end of the collective.
func (g *Group) enter(ctx context.Context, verb engine.Verb, inStream bool) error {
	if !g.busy.CompareAndSwap(false, true) {
		panic("BUG: allreduce: a collective was called while another one of the same group is under way")
	}
	err := g.ready(ctx)
	if err == nil && g.Stream() && !inStream {
		err = fmt.Errorf("rank %d: %v: %w", g.cfg.Rank, verb, engine.ErrStreamOnly)
	}
	if err != nil {
		g.busy.Store(false)
	}
	return err
}

// ready wires the job if necessary, and returns an *InterruptedError if the epoch is over or this
// rank's state is not the one from which the others continue. Run handles that error; before Run
// the error names it.
func (g *Group) ready(ctx context.Context) error {
	if g.isClosed() {
		return ErrClosed
	}
	if err := g.Ready(ctx, Shard{}); err != nil {
		return err
	}
	if !g.steps.Recovers() {
		return nil
	}
	w, missing := g.epoch.Wiring, g.steps.Missing()
	switch {
	case g.epoch.Over():
		return g.epoch.OverError("a collective")
	case missing != nil:
		err := fmt.Errorf("the job is further than this rank, which lacks the %v of step %d", missing.Payload, w.Resume.Step)
		if !g.steps.Running() {
			return fmt.Errorf("rank %d: %w: call Group.Run, which fetches it, before any collective", g.cfg.Rank, err)
		}
		return &InterruptedError{Where: Where{Rank: g.cfg.Rank}, Err: err}
	case w.Ending: // the other ranks have closed their connections
		return fmt.Errorf("rank %d: the job has completed its last step, %d, and has no more collectives: call Group.Finish or Group.Done", g.cfg.Rank, w.Resume.Step)
	case g.steps.ShrinkDue():
		return &InterruptedError{Where: Where{Rank: g.cfg.Rank}, Err: fmt.Errorf("the job goes on with ranks %v, as this rank learns now", []int(g.epoch.Live))}
	case !g.epoch.Linked:
		return g.connect(ctx)
	}
	return nil
}

// checkRoot panics unless root is a rank.
func (g *Group) checkRoot(verb engine.Verb, root int) {
	if root < 0 || g.epoch.Live.Position(root) < 0 {
		panic(fmt.Sprintf("BUG: allreduce: %v with root %d: ranks are %v", verb, root, []int(g.epoch.Live)))
	}
}
