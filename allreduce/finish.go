// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"errors"
	"fmt"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/internal/fault"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Report sends this rank's progress to the server, which logs it, shows it in gvw jobs and
// finds slow ranks by it. If p.Number is 0, Run's count of completed steps and the time of
// its newest Work are filled in.
func (g *Group) Report(p Progress) {
	if g.member == nil {
		return
	}
	if done, _, took := g.steps.Pace(); p.Number == 0 {
		p.Number, p.StepTook = done, took
	}
	g.member.Report(p)
}

// leaving marks the end of the job's last pass in a job with vw workers: its last pass-end
// reduction is complete. It does nothing in other jobs.
//
// A connection that ends before a byte of the next collective has arrived is no loss any more.
// That collective returns engine.ErrLeft, and this rank ends its other connections in the tree,
// so that its neighbours see the same.
func (g *Group) leaving() {
	if !g.Stream() {
		return
	}
	en := &g.epoch.Engine
	en.Mu.Lock()
	defer en.Mu.Unlock()
	en.Leaving = true
}

// Done ends the job of a program that delivers no files: it returns when all ranks have
// called it. It is Finish without a digest and without files.
func (g *Group) Done(ctx context.Context) error {
	return g.Finish(ctx, [32]byte{}, nil, nil)
}

// Finish ends the job. It waits until all ranks have completed it with the same digest of
// the model. It then calls deliver for each file of owes that the server requests from this
// rank, and returns when all files of all ranks are delivered. deliver makes the file final
// and returns the SHA-256 of its bytes. owes has at most 16 names, each of UTF-8 and up to 1024 bytes.
//
// On rank 0 Finish then removes the checkpoints. If ctx ends meanwhile, it logs that they are kept and returns nil.
// Close waits for the call of the file system that is under way.
//
// vw's protocol has no such end: in a job with vw workers, and in a Local one, Finish waits
// for no rank. No collective may be called after Finish.
func (g *Group) Finish(ctx context.Context, digest [32]byte, owes []string, deliver func(ctx context.Context, file string) ([32]byte, error)) error {
	if g.isClosed() {
		return ErrClosed
	}
	if g.member == nil {
		for _, file := range owes {
			g.epoch.Inject(fault.Delivery)
			if _, err := deliver(ctx, file); err != nil {
				return err
			}
		}
		return nil
	}
	if g.epoch.Wiring == nil {
		if err := g.ready(ctx); err != nil {
			return err
		}
	}
	if !g.Stream() {
		if err := protocol.CheckFiles(owes); err != nil {
			return fmt.Errorf("allreduce: rank %d: Finish: %w", g.cfg.Rank, err)
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
		g.epoch.Inject(fault.Delivery)
		sum, err := deliver(ctx, file)
		if err != nil {
			return err
		}
		if err := g.member.Delivered(ctx, file, sum); err != nil {
			return g.atTheEnd("reporting the delivery of "+file+" to the server", err)
		}
	}
	if g.Stream() {
		g.epoch.Engine.Driver.Stop() // as vw does
	}
	if err := g.member.Finish(ctx); err != nil {
		return g.atTheEnd("waiting until all files are delivered", err)
	}
	g.steps.Clear(ctx)
	return nil
}

// Lease waits until the server has confirmed that this attempt still holds its rank. A
// program that delivers a file calls it immediately before the rename to the final name, so
// that a replaced attempt cannot overwrite its successor's file. It returns an error if the
// job has ended or another attempt has the rank.
func (g *Group) Lease(ctx context.Context) error {
	if g.member == nil {
		return nil
	}
	if err := g.member.Lease(ctx); err != nil {
		return g.atTheEnd("waiting for the right to deliver a file", err)
	}
	return nil
}

// unwatch stops watching the edges: from now on a neighbour may close its connections.
func (g *Group) unwatch(ctx context.Context) error {
	en := &g.epoch.Engine
	en.Mu.Lock()
	f := en.Failure
	if f == nil {
		en.Ending = true
	}
	en.Mu.Unlock()
	if f == nil || f.Code == engine.FaultLeft {
		return nil
	}
	err := g.epoch.Err(ctx)
	if _, again := errors.AsType[*InterruptedError](err); again {
		return nil // all steps are completed, so this rank is not needed to recover from the loss
	}
	return err
}

// atTheEnd converts an error of the server's client to one of this package. doing describes
// what the rank was doing.
func (g *Group) atTheEnd(doing string, err error) error {
	if errors.Is(err, client.ErrClosed) {
		return ErrClosed
	}
	w := Where{Rank: g.cfg.Rank}
	if lost, ok := err.(*protocol.LostError); ok {
		return engine.LostBy(w, lost)
	}
	return fmt.Errorf("%v: %s: %w", w, doing, engine.FromServer(w.Rank, err))
}
