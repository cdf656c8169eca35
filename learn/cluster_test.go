// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/internal/spantree/server"
)

// files collects the outputs of runs, by name.
type files struct {
	mu sync.Mutex
	m  map[string][]byte
}

type memFile struct {
	bytes.Buffer
	name string
	to   *files
	done bool
}

// diffFiles returns a report of the differences between files, and "" for equal ones. cmp.Diff compares byte by byte
// with reflection, which is most of a test's time where large files are equal.
func diffFiles(want, got map[string][]byte) string {
	if maps.EqualFunc(want, got, bytes.Equal) {
		return ""
	}
	return cmp.Diff(want, got, cmpopts.EquateEmpty())
}

func (f *files) create(name string) (Output, error) { return &memFile{name: name, to: f}, nil }

func (m *memFile) Commit() error {
	m.to.mu.Lock()
	defer m.to.mu.Unlock()
	if m.to.m == nil {
		m.to.m = map[string][]byte{}
	}
	m.to.m[m.name], m.done = m.Bytes(), true
	return nil
}

func (m *memFile) Abort() error { return nil }

// textInput is a source of examples in memory.
func textInput(name, text string) Input {
	return Input{Name: name, Identity: name, Open: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(text)), nil
	}}
}

// randomText returns labelled examples of a noisy linear rule.
func randomText(n int) string {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for range n {
		var words []string
		var score float64
		for range 8 {
			w := r.IntN(40)
			score += float64(w%5) - 2
			words = append(words, fmt.Sprintf("w%d:%.3f", w, r.Float64()))
		}
		label := 1
		if score+2*r.NormFloat64() < 0 {
			label = -1
		}
		fmt.Fprintf(&b, "%d |f %s\n", label, strings.Join(words, " "))
	}
	return b.String()
}

// deal gives line i to text i mod n.
func deal(text string, n int) []string {
	parts := make([]strings.Builder, n)
	i := 0
	for line := range strings.Lines(text) {
		parts[i%n].WriteString(line)
		i++
	}
	out := make([]string, n)
	for k := range parts {
		out[k] = parts[k].String()
	}
	return out
}

// serve starts a server on loopback and returns its address.
func serve(t *testing.T) string {
	t.Helper()
	l, err := transport.TCP.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(t, l)
}

// serveOn runs a server on a listener until the end of the test, and returns its address.
func serveOn(t *testing.T, l net.Listener) string {
	t.Helper()
	server, err := server.NewServer(server.ServerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	ctx, stop := context.WithCancel(context.Background())
	serving.Go(func() { _ = server.Serve(ctx, l) })
	t.Cleanup(func() {
		stop()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		serving.Wait()
	})
	return l.Addr().String()
}

// runRanks runs one Run per part in this process, through a server on loopback.
func runRanks(t *testing.T, parts []string, change func(rank int, c *Config)) ([]*Report, []error) {
	t.Helper()
	return runRanksAt(t, serve(t), parts, change)
}

func runRanksAt(t *testing.T, server string, parts []string, change func(rank int, c *Config)) ([]*Report, []error) {
	t.Helper()
	reports, errs := make([]*Report, len(parts)), make([]error, len(parts))
	var ranks sync.WaitGroup
	for rank, text := range parts {
		ranks.Go(func() {
			c := Config{
				Data:     DataConfig{Inputs: []Input{textInput(fmt.Sprintf("part %d", rank), text)}},
				Features: FeatureConfig{Bits: 10},
				Loss:     LossConfig{Function: "logistic"},
				Holdout:  HoldoutConfig{Off: true},
				Cluster: ClusterConfig{Join: &allreduce.Config{
					Server: server, Job: allreduce.Job{UniqueID: 9},
					Rank: rank, Total: len(parts), Listen: "127.0.0.1:0",
				}},
			}
			change(rank, &c)
			reports[rank], errs[rank] = Run(t.Context(), c)
		})
	}
	ranks.Wait()
	return reports, errs
}

// All ranks end with the same bytes, for every method, and again on a second run.
func TestRanksAgree(t *testing.T) {
	text := randomText(600)
	for _, c := range []struct {
		name   string
		change func(*Config)
	}{
		{"default rule", func(c *Config) { c.Passes = 3 }},
		{"plain", func(c *Config) { c.Passes, c.SGD.Plain = 2, true }},
		{"normalized", func(c *Config) { c.Passes, c.SGD.Normalized = 3, true }},
		{"adaptive with l2", func(c *Config) { c.Passes, c.SGD.Adaptive, c.Reg.L2 = 3, true, 1e-3 }},
		{"holdout", func(c *Config) { c.Passes, c.Holdout.Off = 6, false }},
		{"squared", func(c *Config) { c.Passes, c.Loss.Function = 2, "squared" }},
		{"l-bfgs", func(c *Config) { c.Passes, c.Batch.BFGS, c.Reg.L2 = 12, true, 1 }},
		{"l-bfgs, squared", func(c *Config) { c.Passes, c.Batch.BFGS, c.Reg.L2, c.Loss.Function = 12, true, 1, "squared" }},
		{"hybrid", func(c *Config) { c.Hybrid, c.Reg.L2 = &Hybrid{SGDPasses: 2, LBFGSPasses: 12}, 1 }},
		{"hybrid with holdout", func(c *Config) {
			c.Hybrid, c.Reg.L2, c.Holdout.Off, c.Holdout.Period = &Hybrid{SGDPasses: 2, LBFGSPasses: 12}, 1, false, 10
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var digests [][32]byte
			for range 2 {
				reports, errs := runRanks(t, deal(text, 4), func(_ int, cfg *Config) { c.change(cfg) })
				if err := errors.Join(errs...); err != nil {
					t.Fatal(err)
				}
				for rank, r := range reports {
					digests = append(digests, r.Digest)
					if r.Stats != reports[0].Stats {
						t.Errorf("rank %d reports %+v, rank 0 %+v", rank, r.Stats, reports[0].Stats)
					}
				}
			}
			for i, d := range digests {
				if d != digests[0] {
					t.Errorf("model %d of 8 differs", i)
				}
			}
		})
	}
}

// L-BFGS over four ranks takes the path of L-BFGS over all examples.
func TestBatchOnFourRanksIsBatchOnOne(t *testing.T) {
	text := randomText(600)
	method := func(c *Config) { c.Passes, c.Batch.BFGS, c.Reg.L2 = 10, true, 1 }
	reports, errs := runRanks(t, deal(text, 4), func(_ int, c *Config) { method(c) })
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	single := Config{Data: DataConfig{Inputs: []Input{textInput("all", text)}}, Features: FeatureConfig{Bits: 10}, Loss: LossConfig{Function: "logistic"}, Holdout: HoldoutConfig{Off: true}}
	method(&single)
	want, err := Run(t.Context(), single)
	if err != nil {
		t.Fatal(err)
	}
	got := reports[0]
	if got.Stats.Examples != want.Stats.Examples || got.Passes != want.Passes {
		t.Errorf("got %d examples in %d passes, want %d in %d", got.Stats.Examples, got.Passes, want.Stats.Examples, want.Passes)
	}
	if g, w := got.AverageLoss(), want.AverageLoss(); math.Abs(g-w) > 1e-6 {
		t.Errorf("average loss: got %v, want %v", g, w)
	}
}

// Every rank with a file name writes its file, and all ranks write the same model.
func TestRanksDeliver(t *testing.T) {
	var out files
	_, errs := runRanks(t, deal(randomText(200), 3), func(rank int, c *Config) {
		c.Output.Create = out.create
		c.Model.Final, c.Output.Predictions = fmt.Sprintf("m%d", rank), fmt.Sprintf("p%d", rank)
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for rank := range 3 {
		if !bytes.Equal(out.m[fmt.Sprintf("m%d", rank)], out.m["m0"]) || len(out.m["m0"]) == 0 {
			t.Errorf("the model of rank %d differs from rank 0's", rank)
		}
		if len(out.m[fmt.Sprintf("p%d", rank)]) == 0 {
			t.Errorf("rank %d wrote no predictions", rank)
		}
	}
}

// When a rank fails, all ranks report its error, and no rank writes a model.
func TestRanksReportOneCause(t *testing.T) {
	var out files
	_, errs := runRanks(t, deal(randomText(200), 3), func(rank int, c *Config) {
		c.Output.Create, c.Model.Final, c.Passes = out.create, fmt.Sprintf("m%d", rank), 3
		if open := c.Data.Inputs[0].Open; rank == 1 {
			opened := 0
			c.Data.Inputs[0].Open = func(ctx context.Context) (io.ReadCloser, error) {
				if opened++; opened > 1 { // the job is wired by then
					return nil, errors.New("the disk is on fire")
				}
				return open(ctx)
			}
		}
	})
	for rank, err := range errs {
		if err == nil || !strings.Contains(err.Error(), "the disk is on fire") {
			t.Errorf("rank %d: got %v, want the cause", rank, err)
		}
	}
	if len(out.m) != 0 {
		t.Errorf("a failed job left %d files", len(out.m))
	}
}

// A refusal names the option that differs.
func TestRanksWithOtherOptions(t *testing.T) {
	_, errs := runRanks(t, deal(randomText(100), 2), func(rank int, c *Config) {
		c.Passes = 1 + rank
		c.Cluster.Join.StartTimeout = 2 * time.Second // the other rank waits for one that fits
	})
	named := false
	for _, err := range errs {
		named = named || err != nil && strings.Contains(err.Error(), "passes")
	}
	if !named {
		t.Errorf("no rank names the option: %v", errs)
	}
}
