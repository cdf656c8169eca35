// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// part is the ranks of a job from lo to before hi. They run in one process, each as a goroutine with connections of its own.
type part struct {
	server        string // HOST:PORT
	lo, hi, total int
}

// Words between a part and the program that measures it. A part says when it can start, when all of its ranks are wired, and
// when all of them have made an all-reduce. It waits for the words to start and to end.
const (
	ready   = "ready"
	started = "start"
	linked  = "wired"
	reduced = "reduced"
	ended   = "end"
)

// run starts the ranks of the part, lets them make one all-reduce of one number, and ends them.
func (p part) run(ctx context.Context, in io.Reader, out io.Writer) (err error) {
	words := bufio.NewScanner(in)
	groups := make([]*allreduce.Group, p.hi-p.lo)
	defer func() {
		for _, g := range groups {
			if g != nil {
				err = errors.Join(err, g.Close())
			}
		}
	}()
	await := func(want string) error {
		if !words.Scan() || words.Text() != want {
			return fmt.Errorf("ranks %d to %d: got the word %q, want %q", p.lo, p.hi-1, words.Text(), want)
		}
		return nil
	}
	say := func(word string) error {
		_, err := fmt.Fprintln(out, word)
		return err
	}
	return inTurn(
		func() error { return say(ready) },
		func() error { return await(started) },
		func() error { return p.each(func(i int) error { return p.join(ctx, groups, i) }) },
		func() error { return say(linked) },
		func() error { return p.each(func(i int) error { return p.reduce(ctx, groups[i]) }) },
		func() error { return say(reduced) },
		func() error { return await(ended) },
		func() error { return p.each(func(i int) error { return groups[i].Done(ctx) }) },
	)
}

// inTurn calls steps up to the first error.
func inTurn(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// each calls f for all ranks of the part at once, counted from 0.
func (p part) each(f func(i int) error) error {
	n := p.hi - p.lo
	return each(n, n, f)
}

func (p part) join(ctx context.Context, groups []*allreduce.Group, i int) (err error) {
	groups[i], err = allreduce.Join(ctx, allreduce.Config{
		Server: p.server, Job: protocol.Job{UniqueID: 1}, Rank: p.lo + i, Total: p.total, Listen: "127.0.0.1:0",
		LostAfter: time.Minute,
	})
	if err != nil {
		return err
	}
	return groups[i].Ready(ctx, protocol.Shard{})
}

func (p part) reduce(ctx context.Context, g *allreduce.Group) error {
	v := []float32{1}
	if err := g.AllReduce(ctx, allreduce.Vec(v), allreduce.Sum); err != nil {
		return err
	}
	if v[0] != float32(p.total) {
		return fmt.Errorf("got %g as the number of ranks, want %d", v[0], p.total)
	}
	return nil
}

// worker runs a part, in this process or in one of its own.
type worker struct {
	in    io.WriteCloser
	words *bufio.Scanner
	wait  func() error // waits for the end
}

// here runs a part in this process.
func here(ctx context.Context, p part) worker {
	in, toPart := io.Pipe()
	fromPart, out := io.Pipe()
	over := make(chan error, 1)
	go func() {
		err := p.run(ctx, in, out)
		out.Close()
		over <- err
	}()
	return worker{toPart, bufio.NewScanner(fromPart), func() error { return <-over }}
}

// apart runs a part in a process of its own.
func apart(ctx context.Context, p part) (w worker, err error) {
	program, err := os.Executable()
	if err != nil {
		return worker{}, err
	}
	cmd := exec.CommandContext(ctx, program, "-part", p.server, strconv.Itoa(p.lo), strconv.Itoa(p.hi), strconv.Itoa(p.total))
	cmd.Stderr = os.Stderr
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2); err != nil {
		return worker{}, err
	}
	return worker{in, bufio.NewScanner(out), cmd.Wait}, cmd.Start()
}

// readPart returns the part that the arguments after -part describe.
func readPart(args []string) (p part, err error) {
	if len(args) != 4 {
		return part{}, fmt.Errorf("-part has %d arguments, want 4: SERVER FROM TO TOTAL", len(args))
	}
	p.server = args[0]
	for i, to := range []*int{&p.lo, &p.hi, &p.total} {
		if *to, err = strconv.Atoi(args[1+i]); err != nil {
			return part{}, fmt.Errorf("-part: %w", err)
		}
	}
	return p, nil
}

// workers are those of a job.
type workers []worker

// startWorkers divides the ranks of a job among processes with at most a number of ranks each. One part is one of this process.
func startWorkers(ctx context.Context, server string, ranks, most int) (all workers, err error) {
	if ranks <= most {
		return workers{here(ctx, part{server, 0, ranks, ranks})}, nil
	}
	for lo := 0; lo < ranks; lo += most {
		w, err := apart(ctx, part{server, lo, min(lo+most, ranks), ranks})
		if err != nil {
			return all, err
		}
		all = append(all, w)
	}
	return all, nil
}

// tell sends a word to all.
func (all workers) tell(word string) error {
	for _, w := range all {
		if _, err := fmt.Fprintln(w.in, word); err != nil {
			return err
		}
	}
	return nil
}

// await waits for a word of each.
func (all workers) await(word string) error {
	for _, w := range all {
		if !w.words.Scan() || w.words.Text() != word {
			return fmt.Errorf("some ranks have ended before they were %s", word)
		}
	}
	return nil
}

// end waits for the end of all. Those that wait for a word end, too.
func (all workers) end() (err error) {
	for _, w := range all {
		err = errors.Join(err, w.in.Close())
	}
	for _, w := range all {
		err = errors.Join(err, w.wait())
	}
	return err
}
