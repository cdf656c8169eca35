// SPDX-License-Identifier: Apache-2.0

//go:build !windows

package maltstorm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/malt"
)

// envTask has the task of a process that is a rank.
const envTask = "GVW_MALTSTORM_TASK"

// started is the line that a rank prints when it begins to train.
const started = "started"

// task describes a rank's process.
type task struct {
	Server string
	Job    uint64
	RunKey string
	Rank   int
	Total  int
	OnLoss malt.OnLoss
	Graph  string
	Sync   string
	Rounds uint64
	Pace   time.Duration // of a round's computation
	Proxy  string        // address of the proxy for connections to other ranks; "": none
	// Within is the time in which all ranks must join; 0: the default.
	Within time.Duration
	// LostAfter is the time after which a silent rank is lost; 0, in a job: lostAfter.
	LostAfter time.Duration
	Verbs     bool // updates go through an RDMA device
	// Victim is the rank that kills itself at the beginning of the round KilledIn; 0: none does.
	Victim   int
	KilledIn uint64
}

// result is what a rank prints at the end.
type result struct {
	Model    []float64
	Epochs   int
	Pause    time.Duration // the longest time between the ends of two rounds
	Usual    time.Duration // the median one
	Written  uint64        // updates that this rank has written into the memory of others
	Finished bool          // the others were done before this attempt had joined
}

func TestMain(m *testing.M) {
	text := os.Getenv(envTask)
	if text == "" {
		os.Exit(m.Run())
	}
	var job task
	if err := json.Unmarshal([]byte(text), &job); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	r, err := work(context.Background(), job)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_ = json.NewEncoder(os.Stdout).Encode(r) // a closed pipe means that the test has ended
}

// work trains as a rank.
func work(ctx context.Context, job task) (r result, err error) {
	network := transport.TCP
	if job.Proxy != "" {
		network = proxied{transport.TCP, job.Rank, job.Server, job.Proxy}
	}
	config := malt.Config{
		Network: network, NoSharedMemory: job.Proxy != "" || job.Verbs, StartTimeout: job.Within, DialTimeout: job.Within,
		Server: job.Server, Job: malt.Job{UniqueID: job.Job, RunKey: job.RunKey}, Rank: job.Rank, Total: job.Total, OnLoss: job.OnLoss,
		Listen: "127.0.0.1:0", Heartbeat: 200 * time.Millisecond, LostAfter: job.LostAfter, Stall: 2 * job.LostAfter,
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	}
	if job.Verbs {
		config.Verbs = "auto"
	}
	g, err := malt.Join(ctx, config)
	if errors.Is(err, malt.ErrFinished) {
		return result{Finished: true}, nil
	}
	if err != nil {
		return r, err
	}
	defer g.Close()
	each := malt.VectorConfig{ObjectConfig: malt.ObjectConfig{Graph: job.Graph, Sync: job.Sync}}
	v, err := malt.NewVector[float64](g, "v", width, each)
	if err != nil {
		return r, err
	}
	// A second vector in step with the first, and one that is exchanged only at the end.
	u, err := malt.NewVector[float64](g, "u", width, each)
	if err != nil {
		return r, err
	}
	end, err := malt.NewVector[float64](g, "end", width, malt.VectorConfig{ObjectConfig: malt.ObjectConfig{Sync: "bsp"}})
	if err != nil {
		return r, err
	}
	fmt.Println(started)
	shares := data(job.Total)
	var rounds []time.Duration
	err = g.Protect(func() error {
		last := time.Now()
		for round := min(v.Iteration(), u.Iteration()); round < job.Rounds; round++ {
			time.Sleep(job.Pace)
			if round > 0 && round == job.KilledIn && job.Rank == job.Victim {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // if it fails, so does the test
			}
			if v.Iteration() <= round { // a late rank continues each vector in its own round
				step(v.Values(), shares, g.Shares(), len(g.Members()), float64(round))
				if err := exchange(ctx, v); err != nil {
					return err
				}
			}
			if u.Iteration() <= round {
				copy(u.Values(), v.Values())
				if err := exchange(ctx, u); err != nil {
					return err
				}
			}
			now := time.Now()
			rounds = append(rounds, now.Sub(last))
			last = now
		}
		if end.Iteration() == 0 {
			copy(end.Values(), v.Values())
			if err := exchange(ctx, end); err != nil {
				return err
			}
		}
		return g.Done(ctx)
	})
	if errors.Is(err, malt.ErrFinished) {
		return result{Finished: true}, nil
	}
	r = result{Model: end.Values(), Epochs: g.Epoch(), Written: v.Stats().Written}
	r.Pause, r.Usual = longest(rounds)
	return r, err
}

// exchange sends a vector and merges what has arrived.
func exchange(ctx context.Context, v *malt.Vector[float64]) error {
	if err := v.Scatter(ctx); err != nil {
		return err
	}
	_, err := v.Gather(ctx, malt.AverageIncludingSelf)
	return err
}

const (
	width     = 4
	examples  = 500 // of a share
	lostAfter = 3 * time.Second
)

type sample struct {
	x [width]float64
	y float64
}

// data draws the shares of all ranks: the same in each process.
func data(total int) [][]sample {
	rng := rand.New(rand.NewPCG(uint64(total), 5))
	var truth [width]float64
	for i := range truth {
		truth[i] = rng.NormFloat64()
	}
	shares := make([][]sample, total)
	for share := range shares {
		for range examples {
			e := sample{y: 0.5 * rng.NormFloat64()}
			for i := range e.x {
				e.x[i] = rng.NormFloat64()
				e.y += truth[i] * e.x[i]
			}
			shares[share] = append(shares[share], e)
		}
	}
	return shares
}

func (e sample) error(w []float64) float64 {
	d := -e.y
	for i, x := range e.x {
		d += w[i] * x
	}
	return d
}

// step makes a gradient step on some shares, each with the same weight.
func step(w []float64, shares [][]sample, own []int, members int, iteration float64) {
	var gradient [width]float64
	for _, share := range own {
		for _, e := range shares[share] {
			d := e.error(w) / examples
			for i, x := range e.x {
				gradient[i] += d * x
			}
		}
	}
	rate := 0.4 / (1 + iteration/20) * float64(members) / float64(len(shares))
	for i := range w {
		w[i] -= rate * gradient[i]
	}
}

// loss returns the mean squared error on all shares.
func loss(w []float64, shares [][]sample) float64 {
	sum := 0.0
	for _, share := range shares {
		for _, e := range share {
			d := e.error(w)
			sum += d * d
		}
	}
	return sum / float64(examples*len(shares))
}
