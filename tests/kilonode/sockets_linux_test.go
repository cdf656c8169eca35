// SPDX-License-Identifier: Apache-2.0

package kilonode

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/tests/harness"
)

// A rank that is wired has at most five sockets, whatever the size of its job: its connection to
// the server, its listener, and those to its parent and two children. The ranks are goroutines of
// this process, so their sockets are counted together: there is none besides. Other connections
// open for the first collective that needs them, and stay open.
func TestWiredRanksHaveFiveSockets(t *testing.T) {
	const ranks = 100
	srv := startServer(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	before := usageOf(os.Getpid()).sockets
	groups := make([]*allreduce.Group, ranks)
	each := func(f func(rank int) error) {
		t.Helper()
		errs := make([]error, ranks)
		var all sync.WaitGroup
		for rank := range ranks {
			all.Go(func() { errs[rank] = f(rank) })
		}
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	defer func() {
		for _, g := range groups {
			if g != nil {
				_ = g.Close() // a failed test has reported why
			}
		}
	}()
	each(func(rank int) (err error) {
		groups[rank], err = allreduce.Join(ctx, allreduce.Config{
			Server: "127.0.0.1:" + srv.port, Job: protocol.Job{UniqueID: 1}, Rank: rank, Total: ranks, Listen: "127.0.0.1:0", NoSharedMemory: true, LostAfter: patience,
		})
		if err != nil {
			return err
		}
		return groups[rank].Ready(ctx, protocol.Shard{})
	})
	const wired = ranks + ranks + 2*(ranks-1) // to the server, listeners, and both ends of the tree's edges
	count := 0
	if !harness.Until(time.Minute, 10*time.Millisecond, func() bool {
		count = usageOf(os.Getpid()).sockets - before
		return count == wired
	}) {
		t.Errorf("%d wired ranks have %d sockets, want %d", ranks, count, wired)
	}
	each(func(rank int) error {
		v := make([]float32, 1<<16)
		if err := groups[rank].AllReduce(ctx, allreduce.Vec(v), allreduce.Sum); err != nil {
			return err
		}
		return groups[rank].Done(ctx)
	})
	t.Logf("%d ranks: %d sockets when wired, %d after a long sum", ranks, count, usageOf(os.Getpid()).sockets-before)
}
