// SPDX-License-Identifier: Apache-2.0

package maltstage

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/allreduce/transport/mem"
	"github.com/gvw-project/gvw/internal/spantree/server"
	"github.com/gvw-project/gvw/learn/internal/sgdstage"
	"github.com/gvw-project/gvw/learn/internal/tally"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/malt"
	"github.com/gvw-project/gvw/optim/sgd"
)

// After losses the numbers of ranks are not below their count. The weights of the rank that has trained are not lost,
// whatever its number is.
func TestWeightsOfTheOnlyTrainedRankAreKept(t *testing.T) {
	for _, c := range []struct {
		live    []int
		trained []int
	}{
		{[]int{0, 2}, []int{2}}, // the number is that of the ranks
		{[]int{0, 3}, []int{3}},
		{[]int{1, 3}, []int{1}},
		{[]int{2, 3}, []int{2, 3}},
		{[]int{2, 3}, nil},
	} {
		t.Run(fmt.Sprint(c.trained, " of ", c.live), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { completes(t, c.live, c.trained) })
		})
	}
}

// completes runs a job of four ranks that starts with the live ones, and checks that all of them have the weights of
// a trained one.
func completes(t *testing.T, live, trained []int) {
	ctx, stop := context.WithTimeout(context.Background(), time.Hour)
	defer stop()
	network := mem.New()
	l, err := network.Host("server").Listen(ctx, ":26543")
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.NewServer(server.ServerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	var serving, ranks sync.WaitGroup
	serving.Go(func() { _ = s.Serve(ctx, l) })
	for _, rank := range live {
		ranks.Go(func() {
			stage := learned(t, float32(rank), !slices.Contains(trained, rank))
			host := fmt.Sprint("h", rank)
			g, err := allreduce.Join(ctx, allreduce.Config{
				Server: "server:26543", Job: allreduce.Job{UniqueID: 9, RunKey: "run"}, Rank: rank, Total: 4, Network: network.Host(host),
				Host: host, OnLoss: allreduce.Open, Elastic: true, StartTimeout: time.Minute,
			})
			if err == nil {
				err = g.Ready(ctx, allreduce.Shard{})
			}
			if err != nil {
				t.Error(err)
				return
			}
			err = stage.complete(ctx, g)
			if fails := len(trained) == 0; (err != nil) != fails {
				t.Errorf("rank %d: got %v, want an error: %t", rank, err, fails)
			}
			want := float32(rank)
			if stage.empty && len(trained) > 0 {
				want = float32(trained[0])
			}
			if got := stage.online.Learner().At(3); got != want {
				t.Errorf("rank %d: got weight %v, want %v", rank, got, want)
			}
			if err := g.Done(ctx); err != nil {
				t.Error(err)
			}
			if err := g.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	ranks.Wait()
	stop()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	serving.Wait()
}

// learned returns the stage of a rank after the passes. Weight 3 has a value.
func learned(t *testing.T, value float32, empty bool) *Stage {
	t.Helper()
	rule := sgd.Flags{SGD: true, Bits: bits}.Config()
	l, err := loss.New("squared")
	if err != nil {
		t.Fatal(err)
	}
	learner, err := sgd.New(rule, l)
	if err != nil {
		t.Fatal(err)
	}
	learner.Weights()[3*rule.Stride()] = value
	online := sgdstage.NewOnline(sgdstage.OnlineConfig{Tally: new(tally.Tally), Rule: rule}, learner)
	return &Stage{online: online, join: malt.Config{OnLoss: malt.Grow}, empty: empty}
}
