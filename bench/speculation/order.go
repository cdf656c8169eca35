// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// order is what an attempt needs to know.
type order struct {
	Server     string // address
	Rank       int
	Ranks      int
	Attempt    int // 1; of a duplicate 2
	Passes     int
	Floats     int
	Pass       time.Duration // of a healthy rank, ±10 %
	Seed       uint64
	SlowFactor float64 // as in allreduce.Config
}

// reports are the functions by which an attempt informs its launcher.
type reports struct {
	working   func(at time.Time, on bool)       // the work of a pass begins, or has ended
	committed func(n int, ready, end time.Time) // pass n has ended; its contribution was ready before
}

// run makes the passes of an attempt, and returns the digest of its final state. slower returns by what factor a pass (from 1)
// takes longer here.
func (o *order) run(ctx context.Context, network transport.Network, log *slog.Logger, news reports, slower func(n int) float64) (digest [32]byte, err error) {
	g, err := allreduce.Join(ctx, allreduce.Config{
		Server: o.Server, Job: protocol.Job{UniqueID: 1, RunKey: "speculation"}, Rank: o.Rank, Total: o.Ranks, Network: network,
		Listen: "127.0.0.1:0", OnLoss: allreduce.Wait, NoSharedMemory: true, Heartbeat: 100 * time.Millisecond, Log: log, SlowFactor: o.SlowFactor,
	})
	if refused, ok := errors.AsType[*protocol.RefusedError](err); ok && refused.Finished() {
		return digest, &protocol.FinishedError{} // an attempt that starts after the end is not needed
	}
	if err != nil {
		return digest, err
	}
	defer g.Close()
	m := newMachine(o)
	rng := rand.New(rand.NewPCG(o.Seed, uint64(o.Rank)))
	m.pass = func(n int) time.Duration {
		return time.Duration(float64(o.Pass) * (1 + jitter*(2*rng.Float64()-1)) * slower(n))
	}
	m.working = news.working
	m.committed = func(n int, ready time.Time) { news.committed(n, ready, time.Now()) }
	if err := g.Run(ctx, m); err != nil {
		return digest, err
	}
	digest = m.digest()
	return digest, g.Finish(ctx, digest, nil, nil)
}
