// SPDX-License-Identifier: Apache-2.0

//go:build linux

// Command serve measures how long gvw serve takes to answer requests that arrive at a constant rate.
//
//	go run ./bench/serve
//
// The load generator is vegeta. It sends each request at its time, however long earlier ones take, so a slow answer does not
// lower the load. A request has one line of a drawn data set. The server and the generator share the machine: beside
// other work the latencies are those of the scheduler, unless both have priority (-under "chrt -r 1").
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/gvw-project/gvw/bench/internal/setup"
	"github.com/gvw-project/gvw/bench/internal/target"
)

func main() {
	var b bench
	flag.IntVar(&b.rate, "rate", 2000, "requests a second")
	flag.DurationVar(&b.duration, "duration", 10*time.Second, "length of a round")
	flag.IntVar(&b.rounds, "rounds", 5, "measurements, after a short one that does not count")
	flag.IntVar(&b.features, "features", 20, "features of a line")
	flag.StringVar(&b.under, "under", "", "command that runs the server and the generator, such as chrt -r 1")
	flag.Parse()
	ctx, stop := target.Context()
	defer stop()
	if err := b.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

// bench is the measurement.
type bench struct {
	rate, rounds, features int
	duration               time.Duration
	under                  string

	dir    string
	vegeta string
}

// examples is the number of lines of the data set. Requests have the first of them in turn.
const examples, requests = 100_000, 10_000

func (b *bench) run(ctx context.Context) (err error) {
	if b.dir, err = os.MkdirTemp("", "serve-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	gvw, err := setup.Build(ctx, b.dir, "gvw")
	if err != nil {
		return err
	}
	if b.vegeta, err = setup.BuildTool(ctx, b.dir, "github.com/tsenart/vegeta/v12"); err != nil {
		return err
	}
	lines := target.Lines(examples, b.features)
	model, err := target.Train(ctx, gvw, b.dir, lines)
	if err != nil {
		return err
	}
	s, err := target.Start(ctx, target.Config{
		Name: "gvw serve", Command: append(strings.Fields(b.under), gvw, "serve", "-i", model, "--quiet", "--port", target.Port), Dir: b.dir, Stderr: os.Stderr,
	})
	if err != nil {
		return err
	}
	defer s.Stop()
	if err := writeTargets(b.targets(), "http://"+s.Address+"/predict", lines[:requests]); err != nil {
		return err
	}
	fmt.Printf("%s, %s; %d features a line, %v a round; times in ms, CPU of the server\n\n", runtime.Version(), setup.Machine(), b.features, b.duration)
	fmt.Println("| requests a second | p50 | p99 | max | errors | CPU µs a request |\n|--:|--:|--:|--:|--:|--:|")
	if _, err := b.attack(ctx, time.Second); err != nil {
		return err
	}
	for range b.rounds {
		before, err := s.Usage()
		if err != nil {
			return err
		}
		r, err := b.attack(ctx, b.duration)
		if err != nil {
			return err
		}
		after, err := s.Usage()
		if err != nil {
			return err
		}
		l := r.Latencies
		fmt.Printf("| %.0f | %.3f | %.3f | %.3f | %.0f | %.1f |\n", r.Throughput, ms(l.P50), ms(l.P99), ms(l.Max),
			float64(r.Requests)*(1-r.Success), float64((after.CPU-before.CPU).Microseconds())/float64(r.Requests))
		if len(r.Errors) > 0 {
			fmt.Fprintln(os.Stderr, strings.Join(r.Errors, "\n"))
		}
	}
	return nil
}

func ms(d time.Duration) float64 { return d.Seconds() * 1000 }

// targets returns the file of the requests.
func (b *bench) targets() string { return filepath.Join(b.dir, "targets") }

// writeTargets writes a request for each line, as vegeta reads them.
func writeTargets(file, url string, lines [][]byte) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	enc := json.NewEncoder(f)
	for _, line := range lines {
		if err := enc.Encode(map[string]any{"method": "POST", "url": url, "body": line}); err != nil {
			return err
		}
	}
	return f.Close()
}

// report is a report of vegeta.
type report struct {
	Latencies struct {
		P50 time.Duration `json:"50th"`
		P99 time.Duration `json:"99th"`
		Max time.Duration `json:"max"`
	} `json:"latencies"`
	Requests   uint64   `json:"requests"`
	Throughput float64  `json:"throughput"`
	Success    float64  `json:"success"`
	Errors     []string `json:"errors"`
}

// attack sends requests for some time.
func (b *bench) attack(ctx context.Context, duration time.Duration) (*report, error) {
	results := filepath.Join(b.dir, "results")
	words := append(strings.Fields(b.under), b.vegeta, "attack", "-format=json", "-targets="+b.targets(), "-output="+results,
		fmt.Sprint("-rate=", b.rate), fmt.Sprint("-duration=", duration))
	if out, err := exec.CommandContext(ctx, words[0], words[1:]...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("vegeta attack: %w\n%s", err, out)
	}
	out, err := exec.CommandContext(ctx, b.vegeta, "report", "-type=json", results).Output()
	if err != nil {
		return nil, fmt.Errorf("vegeta report: %w", err)
	}
	r := new(report)
	return r, json.Unmarshal(out, r)
}
