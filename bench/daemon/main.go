// SPDX-License-Identifier: Apache-2.0

//go:build linux

// Command daemon measures how many predictions a second gvw --daemon and the daemon of vw answer, and the memory of
// idle connections.
//
//	go run ./bench/daemon -vw "python -m vowpalwabbit -d /dev/null"
//
// Both servers test one model. Clients of this program send the lines of a drawn data set: in pipelines, where a client
// sends all lines while it reads the answers, and in turns, where it reads the answer to a line before it sends the next
// one. A third server, of this program, reads each line and answers it by a constant one: the bound of any server whose
// threads wait in the system. The servers take turns, and each figure is the median of the rounds. The CPU time is that of the server only,
// and depends less than the rates on other work of the machine.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/bench/internal/setup"
	"github.com/gvw-project/gvw/bench/internal/target"
)

func main() {
	var b bench
	flag.StringVar(&b.vw, "vw", "", "command of vw; empty: gvw only")
	flag.IntVar(&b.examples, "examples", 400_000, "lines that all clients send together, three times in pipelines, and a fifth of them in turns")
	flag.IntVar(&b.features, "features", 20, "features of a line")
	flag.IntVar(&b.clients, "clients", 32, "connections of the second measurement; the first has one")
	flag.IntVar(&b.idle, "idle", 10_000, "idle connections, whose memory is measured")
	flag.IntVar(&b.rounds, "rounds", 5, "measurements of each figure, of which the median counts")
	port := flag.String("echo", "", "serve constant answers on this port, and nothing else: the bench starts such a server itself")
	flag.Parse()
	ctx, stop := target.Context()
	defer stop()
	work := b.run
	if *port != "" {
		work = func(ctx context.Context) error { return echo(ctx, *port, b.clients) }
	}
	if err := work(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "daemon:", err)
		os.Exit(1)
	}
}

// bench is the measurement.
type bench struct {
	vw                                        string
	examples, features, clients, idle, rounds int

	dir   string
	lines [][]byte
}

func (b *bench) run(ctx context.Context) (err error) {
	if b.dir, err = os.MkdirTemp("", "daemon-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	gvw, err := setup.Build(ctx, b.dir, "gvw")
	if err != nil {
		return err
	}
	b.lines = target.Lines(b.examples, b.features)
	model, err := target.Train(ctx, gvw, b.dir, b.lines)
	if err != nil {
		return err
	}
	fmt.Printf("%s, %s; %d lines of %d features, %d rounds\n\n", runtime.Version(), setup.Machine(), b.examples, b.features, b.rounds)
	commands := [][]string{{gvw}}
	if b.vw != "" {
		commands = append(commands, strings.Fields(b.vw))
	}
	for i := range commands {
		commands[i] = append(commands[i], "--daemon", "--foreground", "-t", "-i", model, "--quiet", "--port", target.Port, "--num_children", strconv.Itoa(b.clients))
	}
	own, err := os.Executable()
	if err != nil {
		return err
	}
	commands = slices.Insert(commands, 1, []string{own, "-clients", strconv.Itoa(b.clients), "-echo", target.Port})
	var servers []*target.Server
	for i, command := range commands {
		s, err := target.Start(ctx, target.Config{Name: []string{"gvw", "bound", "vw"}[i], Command: command, Dir: b.dir, Stderr: os.Stderr})
		if err != nil {
			return err
		}
		defer s.Stop()
		servers = append(servers, s)
	}
	fmt.Println("| answers a second | gvw | bound | vw | gvw/vw | bound/vw | gvw/bound | CPU µs an answer, gvw | bound | vw |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
	for _, clients := range []int{1, b.clients} {
		for _, turns := range []bool{false, true} {
			if err := b.compare(ctx, servers, clients, turns); err != nil {
				return err
			}
		}
	}
	return b.measureIdle(ctx, servers[0])
}

// sample is a measurement of a server.
type sample struct {
	rate float64 // answers a second
	cpu  float64 // time of the server's processes per answer, in µs
}

// median returns the medians of rates and CPU times.
func median(all []sample) sample {
	var rates, cpu []float64
	for _, s := range all {
		rates, cpu = append(rates, s.rate), append(cpu, s.cpu)
	}
	slices.Sort(rates)
	slices.Sort(cpu)
	return sample{rates[len(rates)/2], cpu[len(cpu)/2]}
}

// compare measures the servers in turn, and prints the medians.
func (b *bench) compare(ctx context.Context, servers []*target.Server, clients int, turns bool) error {
	all := make([][]sample, len(servers))
	for range b.rounds {
		for i, s := range servers {
			m, err := b.load(ctx, s, clients, turns)
			if err != nil {
				return fmt.Errorf("%s: %w", s.Name, err)
			}
			all[i] = append(all[i], m)
		}
	}
	way := "in a pipeline"
	if turns {
		way = "in turns"
	}
	gvw, bound := median(all[0]), median(all[1])
	fmt.Printf("| %d connections, %s | %.0f | %.0f ", clients, way, gvw.rate, bound.rate)
	if len(all) == 2 {
		fmt.Printf("| | | | %.2f | %.2f | %.2f | |\n", gvw.rate/bound.rate, gvw.cpu, bound.cpu)
		return nil
	}
	vw := median(all[2])
	fmt.Printf("| %.0f | %.1f | %.1f | %.2f | %.2f | %.2f | %.2f |\n", vw.rate, gvw.rate/vw.rate, bound.rate/vw.rate, gvw.rate/bound.rate, gvw.cpu, bound.cpu, vw.cpu)
	return nil
}
