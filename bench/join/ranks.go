// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// atOnce is the number of ranks that connect at a time: the server bounds its pending
// handshakes.
const atOnce = 512

// start is what the start of a job has cost.
type start struct {
	wired, reduced time.Duration // from the first connection until the last rank was wired, and had its first all-reduce
	cpuStart       time.Duration // of the server, up to the first all-reduce
	cpu            time.Duration // of the server, from its start to its end
	mib            float64       // the server's peak memory
}

// wired starts a job of n ranks, which make one all-reduce of one number, stay for the time hold, and end.
func wired(ctx context.Context, bin string, n int, hold time.Duration) (took start, err error) {
	s, err := startServer(ctx, bin)
	if err != nil {
		return start{}, err
	}
	groups := make([]*allreduce.Group, n)
	begun := time.Now()
	err = each(n, n, func(rank int) (err error) {
		groups[rank], err = allreduce.Join(ctx, allreduce.Config{
			Server: s.addr, Job: protocol.Job{UniqueID: 1}, Rank: rank, Total: n, Listen: "127.0.0.1:0",
			LostAfter: time.Minute,
		})
		if err != nil {
			return err
		}
		return groups[rank].Ready(ctx, protocol.Shard{})
	})
	took.wired = time.Since(begun)
	if err == nil {
		err = each(n, n, func(rank int) error {
			v := []float32{1}
			if err := groups[rank].AllReduce(ctx, allreduce.Vec(v), allreduce.Sum); err != nil {
				return err
			}
			if v[0] != float32(n) {
				return fmt.Errorf("got %g as the number of ranks, want %d", v[0], n)
			}
			return nil
		})
		took.reduced = time.Since(begun)
		if err == nil {
			took.cpuStart, err = s.cpu()
			time.Sleep(hold)
		}
	}
	if err == nil {
		err = each(n, n, func(rank int) error { return groups[rank].Done(ctx) })
	}
	for _, g := range groups {
		if g != nil {
			err = errors.Join(err, g.Close())
		}
	}
	if err == nil {
		took.mib, err = s.memory("VmHWM")
	}
	if err = errors.Join(err, s.stop()); err == nil {
		took.cpu = s.cmd.ProcessState.UserTime() + s.cmd.ProcessState.SystemTime()
	}
	return took, err
}

// held lets n ranks of n+1 join, and returns the server's memory while they wait.
func held(ctx context.Context, bin string, n int) (peak, rss float64, err error) {
	s, err := startServer(ctx, bin)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	members := make([]*client.Member, n)
	err = each(n, atOnce, func(rank int) (err error) {
		members[rank], err = client.Join(ctx, client.JoinConfig{
			Server: s.addr, Job: protocol.Job{UniqueID: 1}, Rank: rank, Total: n + 1, Advertise: "127.0.0.1:30000",
			Heartbeat: 5 * time.Second, LostAfter: 10 * time.Minute,
		})
		return err
	})
	if err == nil {
		time.Sleep(6 * time.Second) // long enough for every rank to send a heartbeat
		rss, err = s.memory("VmRSS")
	}
	if err == nil {
		peak, err = s.memory("VmHWM")
	}
	err = errors.Join(err, each(n, n, func(rank int) error {
		if members[rank] == nil {
			return nil
		}
		return members[rank].Close()
	}))
	return peak, rss, err
}

// each calls f for 0 to n-1, at most atOnce at a time, and returns the first error.
func each(n, atOnce int, f func(i int) error) error {
	var work sync.WaitGroup
	free := make(chan struct{}, atOnce)
	errs := make([]error, n)
	for i := range n {
		free <- struct{}{}
		work.Go(func() {
			errs[i] = f(i)
			<-free
		})
	}
	work.Wait()
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("rank %d: %w", i, err)
		}
	}
	return nil
}
