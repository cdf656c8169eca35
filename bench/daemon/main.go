// SPDX-License-Identifier: Apache-2.0

//go:build linux

// Command daemon measures how many predictions a second gvw --daemon and the daemon of vw answer, and the memory of
// idle connections.
//
//	go run ./bench/daemon -vw "python -m vowpalwabbit -d /dev/null"
//
// Both servers test one model. Clients of this program send the lines of a drawn data set: in pipelines, where a client
// sends all lines while it reads the answers, and in turns, where it reads the answer to a line before it sends the next
// one. The servers take turns, and each figure is the median of the rounds.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gvw-project/gvw/bench/internal/setup"
)

func main() {
	var b bench
	flag.StringVar(&b.vw, "vw", "", "command of vw; empty: gvw only")
	flag.IntVar(&b.examples, "examples", 100_000, "lines that all clients send together in pipelines; a fifth of them in turns")
	flag.IntVar(&b.features, "features", 20, "features of a line")
	flag.IntVar(&b.clients, "clients", 32, "connections of the second measurement; the first has one")
	flag.IntVar(&b.idle, "idle", 10_000, "idle connections, whose memory is measured")
	flag.IntVar(&b.rounds, "rounds", 5, "measurements of each figure, of which the median counts")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := b.run(ctx); err != nil {
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

// server is a server that runs.
type server struct {
	name    string
	address string
	command *exec.Cmd
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
	if err := b.train(ctx, gvw); err != nil {
		return err
	}
	fmt.Printf("%s, %s; %d lines of %d features, %d rounds\n\n", runtime.Version(), setup.Machine(), b.examples, b.features, b.rounds)
	commands := [][]string{{gvw}}
	if b.vw != "" {
		commands = append(commands, strings.Fields(b.vw))
	}
	var servers []*server
	for i, command := range commands {
		s, err := b.start(ctx, []string{"gvw", "vw"}[i], command)
		if s != nil {
			defer s.stop()
		}
		if err != nil {
			return err
		}
		servers = append(servers, s)
	}
	fmt.Println("| answers a second | gvw | vw | gvw/vw |\n|---|--:|--:|--:|")
	for _, clients := range []int{1, b.clients} {
		for _, turns := range []bool{false, true} {
			if err := b.compare(ctx, servers, clients, turns); err != nil {
				return err
			}
		}
	}
	return b.measureIdle(ctx, servers[0])
}

// train draws the lines and trains the model of both servers.
func (b *bench) train(ctx context.Context, gvw string) error {
	rng := rand.New(rand.NewPCG(1, 1))
	var data bytes.Buffer
	for range b.examples {
		fmt.Fprintf(&data, "%d |a", 2*rng.IntN(2)-1)
		for range b.features {
			fmt.Fprintf(&data, " w%d:%.2f", rng.IntN(50_000), rng.Float64())
		}
		data.WriteByte('\n')
	}
	b.lines = slices.Collect(bytes.Lines(data.Bytes()))
	file := filepath.Join(b.dir, "data")
	if err := os.WriteFile(file, data.Bytes(), 0o600); err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, gvw, "-d", file, "-f", b.model(), "--quiet").CombinedOutput(); err != nil {
		return fmt.Errorf("gvw: %w\n%s", err, out)
	}
	return nil
}

func (b *bench) model() string { return filepath.Join(b.dir, "model") }

// start starts a server and waits until it listens.
func (b *bench) start(ctx context.Context, name string, command []string) (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := l.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	if err := l.Close(); err != nil {
		return nil, err
	}
	args := append(command[1:], "--daemon", "--foreground", "-t", "-i", b.model(), "--quiet", "--port", port, "--num_children", strconv.Itoa(b.clients))
	s := &server{name: name, address: address, command: exec.CommandContext(ctx, command[0], args...)}
	s.command.Dir = b.dir
	s.command.Stderr = os.Stderr
	s.command.SysProcAttr = ownGroup // vw's children end with it
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	const limit = 30 * time.Second
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		c, err := net.Dial("tcp", address)
		if err == nil {
			return s, c.Close()
		}
		if time.Since(began) > limit {
			return s, fmt.Errorf("%s does not listen on %s after %v: %w", name, address, limit, err)
		}
	}
}

// compare measures the servers in turn, and prints the medians.
func (b *bench) compare(ctx context.Context, servers []*server, clients int, turns bool) error {
	rates := make([][]float64, len(servers))
	for range b.rounds {
		for i, s := range servers {
			rate, err := b.load(ctx, s, clients, turns)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			rates[i] = append(rates[i], rate)
		}
	}
	way := "in a pipeline"
	if turns {
		way = "in turns"
	}
	row := fmt.Sprintf("| %d connections, %s |", clients, way)
	var medians []float64
	for _, r := range rates {
		slices.Sort(r)
		medians = append(medians, r[len(r)/2])
		row += fmt.Sprintf(" %.0f |", r[len(r)/2])
	}
	if len(medians) > 1 {
		row += fmt.Sprintf(" %.1f |", medians[0]/medians[1])
	}
	fmt.Println(row)
	return nil
}
