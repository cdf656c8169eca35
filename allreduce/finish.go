// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"errors"
	"fmt"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/internal/fault"
)

// Report tells the server how far this rank is, for its log, for those who ask, and to
// find who is slow. How many steps are done, and how long the newest Work took, Run knows:
// where p leaves them at 0, they are filled in.
func (g *Group) Report(p Progress) {
	if g.member == nil {
		return
	}
	if done, _, took := g.steps.Pace(); p.Number == 0 {
		p.Number, p.StepTook = done, took
	}
	g.member.Report(p)
}

// Leaving says, in a job with vw workers, that the job's last pass-end reduction is
// behind us. The vw program then exchanges six totals; the vw of the Python
// package just leaves. So from here on a connection that ends before a byte of the
// first total has come is no loss: the next collective returns ErrLeft, and this
// rank ends its other connections in the tree, so that its neighbours see the same.
// In other jobs it does nothing.
func (g *Group) Leaving() {
	if !g.Stream() {
		return
	}
	en := &g.engine
	en.Mu.Lock()
	defer en.Mu.Unlock()
	en.Leaving = true
}

// Done ends the job of a program that delivers no files: it returns when all ranks have
// called it. It is Finish without a digest and without files.
func (g *Group) Done(ctx context.Context) error {
	return g.Finish(ctx, [32]byte{}, nil, nil)
}

// Finish ends the job: it waits until all ranks have completed it with the same
// digest of the model, then calls deliver for each file of owes that the server
// wants from this rank, and returns when all files of all ranks are delivered.
// deliver makes the file final and returns the SHA-256 of its bytes.
//
// In a job with vw workers, who know no such end, and in a Local one, there
// is nobody to wait for. After Finish the group has no collectives any more.
func (g *Group) Finish(ctx context.Context, digest [32]byte, owes []string, deliver func(ctx context.Context, file string) ([32]byte, error)) error {
	if g.isClosed() {
		return ErrClosed
	}
	if g.member == nil {
		for _, file := range owes {
			g.inject(fault.Delivery)
			if _, err := deliver(ctx, file); err != nil {
				return err
			}
		}
		return nil
	}
	if g.wiring == nil {
		if err := g.ready(ctx); err != nil {
			return err
		}
	}
	if err := g.unwatch(ctx); err != nil {
		return err
	}
	files, err := g.member.Complete(ctx, digest, owes)
	if err != nil {
		return g.atTheEnd("waiting for all ranks to complete the job", err)
	}
	for _, file := range files {
		g.inject(fault.Delivery)
		sum, err := deliver(ctx, file)
		if err != nil {
			return err
		}
		if err := g.member.Delivered(ctx, file, sum); err != nil {
			return g.atTheEnd("telling the server that "+file+" is delivered", err)
		}
	}
	if g.Stream() {
		g.engine.Driver.Stop() // as vw does
	}
	if err := g.member.Finish(ctx); err != nil {
		return g.atTheEnd("waiting until all files are delivered", err)
	}
	g.steps.Clear()
	return nil
}

// Lease waits until the server is known to count on this rank. Who delivers a file asks
// for it last before the file gets its name. It ends with an error when the job
// does, or this attempt's part in it.
func (g *Group) Lease(ctx context.Context) error {
	if g.member == nil {
		return nil
	}
	if err := g.member.Lease(ctx); err != nil {
		return g.atTheEnd("waiting for the right to deliver a file", err)
	}
	return nil
}

// unwatch stops watching the edges: from here on they may end.
func (g *Group) unwatch(ctx context.Context) error {
	en := &g.engine
	en.Mu.Lock()
	f := en.Failure
	if f == nil {
		en.Ending = true
	}
	en.Mu.Unlock()
	if f == nil || f.Code == engine.FaultLeft {
		return nil
	}
	err := g.failed(ctx)
	if _, again := errors.AsType[*InterruptedError](err); again {
		return nil // all steps are completed: the loss concerns this rank no more
	}
	return err
}

// atTheEnd is an error of the server's client in this package's words.
func (g *Group) atTheEnd(doing string, err error) error {
	w := Where{Rank: g.cfg.Rank}
	if lost, ok := err.(*VerdictError); ok {
		return &LostError{Where: w, Rank: lost.Rank, Host: lost.Host, Why: lost.Why, GaveUp: lost.GaveUp, Err: err}
	}
	return fmt.Errorf("%v: %s: %w", w, doing, err)
}
