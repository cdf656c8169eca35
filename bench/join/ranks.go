// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

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

// wired starts a job of n ranks, at most a number of them in a process, which make one all-reduce of one number, stay for the
// time hold, and end.
func wired(ctx context.Context, bin string, n, most int, hold time.Duration) (took start, err error) {
	s, err := startServer(ctx, bin)
	if err != nil {
		return start{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	all, err := startWorkers(ctx, s.addr, n, most)
	var begun time.Time
	if err == nil {
		err = inTurn(
			func() error { return all.await(ready) },
			func() error { begun = time.Now(); return all.tell(started) },
			func() error { return all.await(linked) },
			func() error { took.wired = time.Since(begun); return all.await(reduced) },
			func() error { took.reduced = time.Since(begun); took.cpuStart, err = s.cpu(); return err },
			func() error { time.Sleep(hold); return all.tell(ended) },
		)
	}
	if err != nil {
		cancel() // the others wait for the ranks that have failed
	}
	if err = errors.Join(err, all.end()); err == nil {
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
