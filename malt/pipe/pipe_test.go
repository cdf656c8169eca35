// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/gvw-project/gvw/internal/spantree/server"
	"github.com/gvw-project/gvw/internal/vectorio"
	"github.com/gvw-project/gvw/malt"
)

// run gives each rank of a job an input, and returns the outputs and errors.
func run(t *testing.T, cfg Config, inputs ...string) (outs []string, errs []error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.NewServer(server.ServerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(context.Background(), l) }()
	defer func() { s.Close(); <-served }()
	outs, errs = make([]string, len(inputs)), make([]error, len(inputs))
	var ranks sync.WaitGroup
	for rank, input := range inputs {
		ranks.Go(func() {
			g, err := malt.Join(t.Context(), malt.Config{
				Server: l.Addr().String(), Job: malt.Job{UniqueID: 1}, Rank: rank, Total: len(inputs), Listen: "127.0.0.1:0",
			})
			if err != nil {
				errs[rank] = err
				return
			}
			defer g.Close()
			var out bytes.Buffer
			errs[rank] = Run(t.Context(), g, cfg, strings.NewReader(input), &out)
			outs[rank] = out.String()
		})
	}
	ranks.Wait()
	return outs, errs
}

func synchronous(merge string) Config {
	return Config{Merge: merge, Vector: malt.VectorConfig{ObjectConfig: malt.ObjectConfig{Graph: "all", Sync: "bsp"}}}
}

func TestEachLineIsARound(t *testing.T) {
	for merge, want := range map[string]string{
		"":    "4 0.5\n20\n",
		"sum": "12 1.5\n60\n",
	} {
		for _, kind := range Types {
			cfg := synchronous(merge)
			cfg.Type = kind
			want := strings.ReplaceAll(want, "20\n", "20 20\n")
			want = strings.ReplaceAll(want, "60\n", "60 60\n")
			outs, errs := run(t, cfg, "1 0\n10 10\n", "2 1\n20 20\n", "9\t0.5\r\n30 30")
			for rank := range outs {
				if errs[rank] != nil || outs[rank] != want {
					t.Errorf("%s, %s: rank %d: got %q and %v, want %q", merge, kind, rank, outs[rank], errs[rank], want)
				}
			}
		}
	}
}

func TestWeightedUsesTheWeightsOfTheGraph(t *testing.T) {
	outs, errs := run(t, synchronous("weighted"), "1\n", "3\n") // two ranks: one half each
	if errs[0] != nil || errs[1] != nil || outs[0] != "2\n" || outs[1] != "2\n" {
		t.Errorf("got %q and %v", outs, errs)
	}
}

func TestReplaceTakesWhatHasArrived(t *testing.T) {
	outs, errs := run(t, synchronous("replace"), "1\n", "2\n")
	if errs[0] != nil || errs[1] != nil || outs[0] != "2\n" || outs[1] != "1\n" {
		t.Errorf("got %q and %v", outs, errs)
	}
}

func TestFrames(t *testing.T) {
	cfg := synchronous("average")
	cfg.Frames = true
	frame := func(v ...float64) string { return string(vectorio.Encode(nil, v)) }
	outs, errs := run(t, cfg, frame(1, 2), frame(3, 4))
	if errs[0] != nil || errs[1] != nil || outs[0] != frame(2, 3) || outs[1] != outs[0] {
		t.Errorf("got %q and %v", outs, errs)
	}
}

// A rank whose input ends early does not hold up the others.
func TestInputsOfDifferentLengths(t *testing.T) {
	cfg := Config{Vector: malt.VectorConfig{ObjectConfig: malt.ObjectConfig{Sync: "asp"}}}
	outs, errs := run(t, cfg, strings.Repeat("1 1\n", 20), strings.Repeat("1 1\n", 3))
	for rank, lines := range []int{20, 3} {
		if errs[rank] != nil || outs[rank] != strings.Repeat("1 1\n", lines) {
			t.Errorf("rank %d: got %q and %v", rank, outs[rank], errs[rank])
		}
	}
}

// Without a job each result is the vector itself.
func TestOneProcess(t *testing.T) {
	var out bytes.Buffer
	if err := Run(t.Context(), nil, Config{}, strings.NewReader("1 2\n3 4\n"), &out); err != nil || out.String() != "1 2\n3 4\n" {
		t.Errorf("got %q and %v", &out, err)
	}
	if err := Run(t.Context(), nil, Config{}, strings.NewReader("1 2\n3\n"), &out); err == nil || !strings.Contains(err.Error(), "line 2 of the input: got 1 numbers") {
		t.Errorf("got %v, want an error that names line 2", err)
	}
}

func TestFaultsOfTheInput(t *testing.T) {
	for _, c := range []struct{ input, want string }{
		{"1 x\n", `line 1 of the input: "x" is not a number`},
		{"1 2\n1\n", "line 2 of the input: got 1 numbers, want 2"},
		{"", "the input has no vector"},
		{"\n", "line 1 of the input: got 0 numbers, want at least 1"},
	} {
		_, errs := run(t, synchronous("average"), c.input, "1 2\n1 2\n1 2\n")
		if errs[0] == nil || !strings.Contains(errs[0].Error(), c.want) {
			t.Errorf("%q: got %v, want %q", c.input, errs[0], c.want)
		}
		if errs[1] == nil || !strings.Contains(errs[1].Error(), "rank 0") {
			t.Errorf("%q: the other rank got %v, want an error that names rank 0", c.input, errs[1])
		}
	}
	_, errs := run(t, synchronous("average"), "1 2 3\n", "1 2\n")
	if err := fmt.Sprint(errs); !strings.Contains(err, "length is 3 and 2") && !strings.Contains(err, "length is 2 and 3") {
		t.Errorf("got %v, want an error with both lengths", errs)
	}
}

func TestConfigFaults(t *testing.T) {
	err := Config{Merge: "mean", Type: "i64", MaxVector: -1}.Validate()
	for _, want := range []string{`Merge: got "mean"`, `Type: got "i64"`, "MaxVector: got -1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
