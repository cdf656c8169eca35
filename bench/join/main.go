// SPDX-License-Identifier: Apache-2.0

// Command join measures how a large job starts: the time until all of its ranks are wired and have
// made an all-reduce, which opens connections between them, the server's CPU time for it, and the server's memory for ranks that
// wait.
//
//	go run ./bench/join -ranks 1000 -waiting 10000
//	go run ./bench/join -ranks 4000 -most 500 -waiting 0
//
// The server is spanning_tree, a process of its own. The ranks are goroutines with real sockets, of this process or, if there are
// more of them than -most, of others. The limit of open files bounds -most, as each rank has some 15 connections, and -waiting, as
// each rank that waits is a connection of the server and of this process.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"github.com/gvw-project/gvw/bench/internal/cost"
	"github.com/gvw-project/gvw/bench/internal/setup"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := command(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "join:", err)
		os.Exit(1)
	}
}

func command(ctx context.Context) error {
	if len(os.Args) > 1 && os.Args[1] == "-part" { // as apart calls this program
		p, err := readPart(os.Args[2:])
		if err != nil {
			return err
		}
		return p.run(ctx, os.Stdin, os.Stdout)
	}
	ranks := flag.Int("ranks", 1000, "ranks of the job that is wired")
	waiting := flag.Int("waiting", 10000, "ranks that wait at the server for one that does not come; 0: leave it out")
	lines := flag.Bool("json", false, "print a JSON object for each start of the job: its seconds, and the server's CPU time and memory")
	hold := flag.Duration("hold", 0, "time for which the ranks of the job that is wired stay, and send heartbeats, before they end")
	rounds := flag.Int("rounds", 3, "how often the job is wired")
	most := flag.Int("most", 1000, "ranks in a process")
	flag.Parse()
	if *ranks < 1 || *most < 1 {
		return fmt.Errorf("-ranks is %d and -most %d, want 1 or more", *ranks, *most)
	}
	return bench(ctx, *ranks, *most, *waiting, *rounds, *hold, *lines, os.Stdout)
}

// child is the server's process.
type child struct {
	cmd  *exec.Cmd
	addr string
}

// startServer starts the server on a free port and waits until it listens.
func startServer(ctx context.Context, bin string) (*child, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	addr := l.Addr().(*net.TCPAddr)
	if err := l.Close(); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, bin, "--nondaemon", "--bind", "127.0.0.1", "--port", strconv.Itoa(addr.Port))
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &child{cmd, addr.String()}
	for range 100 {
		probe, err := net.Dial("tcp", c.addr)
		if err == nil {
			return c, probe.Close()
		}
		time.Sleep(50 * time.Millisecond)
	}
	return nil, errors.Join(fmt.Errorf("the server does not listen at %s", c.addr), cmd.Process.Kill(), cmd.Wait())
}

// stop ends the server. The exit status on SIGINT is ignored.
func (c *child) stop() error {
	err := c.cmd.Process.Signal(os.Interrupt)
	_ = c.cmd.Wait()
	return err
}

// memory returns a line of the process's status in MiB, for example VmRSS, or VmHWM for the
// peak.
func (c *child) memory(name string) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		var kib float64
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			if _, err := fmt.Sscanf(rest, "%f kB", &kib); err != nil {
				return 0, err
			}
			return kib / 1024, nil
		}
	}
	return 0, fmt.Errorf("no %s in the status of a process", name)
}

// cpu returns the CPU time of the process so far.
func (c *child) cpu() (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	f := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, err1 := strconv.Atoi(f[11])
	system, err2 := strconv.Atoi(f[12])
	const tick = 10 * time.Millisecond // of all Linux systems that Go runs on
	return time.Duration(user+system) * tick, errors.Join(err1, err2)
}

func bench(ctx context.Context, ranks, most, waiting, rounds int, hold time.Duration, lines bool, w io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "gvw-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	bin, err := setup.Build(ctx, dir, "spanning_tree")
	if err != nil {
		return err
	}
	table := w
	if lines {
		table = io.Discard
	}
	best := time.Duration(0)
	var memory float64
	for round := range rounds {
		took, err := wired(ctx, bin, ranks, most, hold)
		if err != nil {
			return err
		}
		if best == 0 || took.reduced < best {
			best = took.reduced
		}
		memory = max(memory, took.mib)
		fmt.Fprintf(table, "round %d: %d ranks wired in %.2f s, first all-reduce after %.2f s; CPU of the server: %.2f s up to then, %.2f s up to the end\n",
			round+1, ranks, took.wired.Seconds(), took.reduced.Seconds(), took.cpuStart.Seconds(), took.cpu.Seconds())
		if lines {
			one := cost.Sample{Wall: took.reduced.Seconds(), CPU: took.cpu.Seconds(), Memory: took.mib}
			if err := cost.WriteLines(w, "join", "gvw", float64(ranks), one); err != nil {
				return err
			}
		}
	}
	fmt.Fprintf(table, "best: %d ranks have their first all-reduce after %.2f s; the server's memory at most %.1f MiB\n", ranks, best.Seconds(), memory)
	if waiting == 0 {
		return nil
	}
	peak, rss, err := held(ctx, bin, waiting)
	if err != nil {
		return err
	}
	fmt.Fprintf(table, "%d ranks wait: the server's memory %.1f MiB, at most %.1f MiB\n", waiting, rss, peak)
	return nil
}
