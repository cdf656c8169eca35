// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/allreduce/transport/mem"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// TestFinish checks that Finish returns on no rank before all files of all ranks are delivered.
func TestFinish(t *testing.T) {
	const n = 4
	inBubble(t, n, Config{}, func(t *testing.T, j *testJob, _ *mem.Network) {
		var mu sync.Mutex
		var delivered []string
		j.each(func(rank int) error {
			g := j.groups[rank]
			if err := g.Barrier(ctx); err != nil {
				return err
			}
			g.Report(Progress{Pass: 1, Step: "SGD"})
			owes := []string{fmt.Sprintf("predictions.%d", rank)}
			if rank == 0 {
				owes = append(owes, "model")
			}
			err := g.Finish(ctx, [32]byte{1}, owes, func(_ context.Context, file string) ([32]byte, error) {
				time.Sleep(time.Duration(rank) * time.Second)
				mu.Lock()
				defer mu.Unlock()
				delivered = append(delivered, file)
				return [32]byte{2}, nil
			})
			if err != nil {
				return err
			}
			mu.Lock()
			done := len(delivered)
			mu.Unlock()
			if done != n+1 {
				return fmt.Errorf("returned when %d of %d files were delivered", done, n+1)
			}
			// The others may go now, in any order.
			time.Sleep(time.Duration(n-rank) * time.Second)
			return g.Close()
		})
		slices.Sort(delivered)
		want := []string{"model", "predictions.0", "predictions.1", "predictions.2", "predictions.3"}
		if d := cmp.Diff(want, delivered); d != "" {
			t.Error(d)
		}
	})
}

// TestFinishComparesModels checks that ranks with different models deliver nothing.
func TestFinishComparesModels(t *testing.T) {
	inBubble(t, 3, Config{}, func(t *testing.T, j *testJob, _ *mem.Network) {
		j.ready()
		for rank, err := range j.all(func(rank int) error {
			digest := [32]byte{1}
			if rank == 1 {
				digest[0] = 2
			}
			return j.groups[rank].Finish(ctx, digest, []string{"model"}, func(context.Context, string) ([32]byte, error) {
				return [32]byte{}, errors.New("delivered in spite of it")
			})
		}) {
			if err == nil || !strings.Contains(err.Error(), "different models") {
				t.Errorf("rank %d: got %v", rank, err)
			}
		}
	})
}

// TestFinishChecksNames checks that Finish refuses names of files that the server cannot be sent.
func TestFinishChecksNames(t *testing.T) {
	inBubble(t, 2, Config{OnLoss: Wait}, func(t *testing.T, j *testJob, _ *mem.Network) {
		j.ready()
		for want, owes := range map[string][]string{
			"owes 17 files, the limit is 16":    make([]string, 17),
			"has 1025 bytes, the limit is 1024": {"model", strings.Repeat("m", 1025)},
			"is not UTF-8":                      {"model\xff"},
		} {
			err := j.groups[1].Finish(ctx, [32]byte{1}, owes, nil)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		}
		j.each(func(rank int) error { return j.groups[rank].Done(ctx) }) // nothing was sent
	})
}

// TestFailedDelivery checks that the error of a failed delivery reaches the ranks that wait in
// Finish.
func TestFailedDelivery(t *testing.T) {
	inBubble(t, 3, Config{}, func(t *testing.T, j *testJob, _ *mem.Network) {
		j.ready()
		for rank, err := range j.all(func(rank int) error {
			g := j.groups[rank]
			var owes []string
			if rank == 0 {
				owes = []string{"model"}
			}
			err := g.Finish(ctx, [32]byte{1}, owes, func(context.Context, string) ([32]byte, error) {
				return [32]byte{}, errors.New("the disk is full")
			})
			if rank == 0 {
				g.Fail(ctx, err)
			}
			return err
		}) {
			if err == nil || !strings.Contains(err.Error(), "the disk is full") {
				t.Errorf("rank %d: got %v", rank, err)
			}
			if lost, ok := errors.AsType[*LostError](err); rank != 0 && (!ok || lost.Rank != 0 || !lost.GaveUp) {
				t.Errorf("rank %d: got %v, want that rank 0 gave up", rank, err)
			}
		}
	})
}

// TestCloseDuringFinish checks that Close in another goroutine ends Done with ErrClosed, and that rank 0 keeps the
// checkpoints of the job, which has not finished.
func TestCloseDuringFinish(t *testing.T) {
	for _, onLoss := range []OnLoss{Abort, Wait} {
		kept := &memoryCheckpoints{state: []byte("after a step")}
		cfg := Config{OnLoss: onLoss}
		if onLoss == Wait {
			cfg.Checkpoints = kept
		}
		inBubble(t, 2, cfg, func(t *testing.T, j *testJob, _ *mem.Network) {
			j.ready()
			g := j.groups[0]
			closed := make(chan error, 1)
			time.AfterFunc(time.Second, func() { closed <- g.Close() }) // rank 1 still trains
			if err := g.Done(ctx); err != ErrClosed {
				t.Errorf("on_loss %v: got %v, want ErrClosed", onLoss, err)
			}
			if err := <-closed; err != nil {
				t.Errorf("on_loss %v: Close: %v", onLoss, err)
			}
			if kept.state == nil {
				t.Errorf("on_loss %v: the checkpoints of the job were removed", onLoss)
			}
		})
	}
}

// TestCollectiveAfterFinish checks that a collective after Finish, or after one that has failed, returns
// an error.
func TestCollectiveAfterFinish(t *testing.T) {
	for _, fails := range []bool{false, true} {
		inBubble(t, 2, Config{}, func(t *testing.T, j *testJob, _ *mem.Network) {
			j.ready()
			for rank, err := range j.all(func(rank int) error {
				digest := [32]byte{}
				if fails {
					digest[0] = byte(rank)
				}
				if err := j.groups[rank].Finish(ctx, digest, nil, nil); (err != nil) != fails {
					t.Errorf("rank %d: Finish returns %v", rank, err)
				}
				return j.groups[rank].Barrier(ctx)
			}) {
				if want := fmt.Sprintf("rank %d: the job is ending: no collective may be called", rank); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("rank %d: got %v, want %q", rank, err, want)
				}
			}
		})
	}
}

// counter is a machine of three steps that adds numbers of all ranks.
type counter struct {
	rank, steps int
	own, sum    []float32
	total       float32
	trace       []string
}

func (c *counter) Next() (string, bool) { return fmt.Sprintf("step %d", c.steps+1), c.steps < 3 }

func (c *counter) Work(context.Context) error {
	c.trace = append(c.trace, "work")
	c.own[0] = float32(c.rank + c.steps)
	return nil
}

func (c *counter) Exchange(ctx context.Context, g *Group) error {
	c.trace = append(c.trace, "exchange")
	return g.AllReduceInto(ctx, Vec(c.sum), Vec(c.own), Sum)
}

func (c *counter) Commit() error {
	c.trace = append(c.trace, "commit")
	c.total += c.sum[0]
	c.steps++
	return nil
}

func TestRunDrivesAllSteps(t *testing.T) {
	const n = 3
	inBubble(t, n, Config{}, func(t *testing.T, j *testJob, _ *mem.Network) {
		j.each(func(rank int) error {
			c := &counter{rank: rank, own: make([]float32, 1), sum: make([]float32, 1)}
			if err := j.groups[rank].Run(ctx, c); err != nil {
				return err
			}
			if want := float32(3*(0+1+2) + n*(0+1+2)); c.total != want {
				return fmt.Errorf("got %v, want %v", c.total, want)
			}
			if d := cmp.Diff(slices.Repeat([]string{"work", "exchange", "commit"}, 3), c.trace); d != "" {
				return errors.New(d)
			}
			return nil
		})
	})
}

// slow is a network on which a connection takes a second to make.
type slow struct{ transport.Network }

func (s slow) Dial(ctx context.Context, addr string) (net.Conn, error) {
	time.Sleep(time.Second)
	return s.Network.Dial(ctx, addr)
}

// TestConnectionsWithoutTheTokenAreClosed checks that a connection to a rank's port without the token is closed
// with a line in the log, and delays no rank.
func TestConnectionsWithoutTheTokenAreClosed(t *testing.T) {
	inBubble(t, 2, Config{}, func(t *testing.T, j *testJob, n *mem.Network) {
		// The parent is the rank that listens: in a tree of two it is rank 1.
		addr := j.groups[1].mesh.Addr().String()
		for _, words := range [][]byte{
			[]byte("GET / HTTP/1.1\r\nHost: a port scanner, with many words to say\r\n\r\n"),
			newHello(protocol.Epoch{}, 0, 1, 2, false),
			nil, // silent
		} {
			c, err := n.Host("stranger").Dial(ctx, addr)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if _, err := c.Write(words); err != nil {
				t.Fatal(err)
			}
		}
		j.reroute(0, func(n transport.Network) transport.Network { return slow{n} }) // so that the strangers are first
		start := time.Now()
		checkCollectives(t, j, 10)
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("the strangers held up the job for %v", took)
		}
		log := j.logs[1].String()
		for _, want := range []string{"no rank of a gvw job", "it is of another epoch"} {
			if !strings.Contains(log, want) {
				t.Errorf("the log lacks %q:\n%s", want, log)
			}
		}
	})
}
