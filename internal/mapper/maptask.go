// SPDX-License-Identifier: Apache-2.0

package mapper

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/hadoop"
	"github.com/gvw-project/gvw/learn"
)

// mapTask is a map task under way: what it says to Hadoop, and what Hadoop allows it.
type mapTask struct {
	task   hadoop.Task
	phased bool // the task calls gvw mapper several times
	lines  *wholeLines
	report *taskReport
	read   atomic.Int64 // bytes of text
	stop   chan struct{}
	wait   sync.WaitGroup
}

func newMapper(t hadoop.Task, stderr io.Writer) *mapTask {
	m := &mapTask{task: t, lines: &wholeLines{out: stderr}, stop: make(chan struct{})}
	if t.Rank == 0 {
		m.lines.kept = &bytes.Buffer{}
	}
	m.report = &taskReport{task: t, out: m.lines, text: "starting"}
	m.wait.Go(func() { m.report.run(m.stop, reportEvery(t.Timeout)) })
	return m
}

// close ends the reports.
func (m *mapTask) close() {
	close(m.stop)
	m.wait.Wait()
	m.lines.flush()
}

// say prints a line of the mapper's own.
func (m *mapTask) say(format string, args ...any) {
	fmt.Fprintf(m.lines, "gvw mapper: "+format+"\n", args...)
}

// Prepare is called when the learner knows what it is to do, before it allocates
// anything.
func (m *mapTask) Prepare(cfg *learn.Config) error {
	if err := m.checkMemory(cfg); err != nil {
		return err
	}
	for i, in := range cfg.Data.Inputs {
		cfg.Data.Inputs[i] = m.count(in)
	}
	cfg.Diagnostics.Watch = m.report.watch
	cfg.Metrics.PassLog = m.report
	cfg.Diagnostics.Log = slog.New(slog.NewMultiHandler(cfg.Diagnostics.Log.Handler(), &logStatus{report: m.report}))
	m.report.set("reading the split")
	return nil
}

// checkMemory prints what the run will take, and refuses what the container would be
// killed for.
func (m *mapTask) checkMemory(cfg *learn.Config) error {
	plan, err := cfg.Plan()
	if err != nil {
		return err
	}
	for _, a := range plan.Memory {
		m.say("memory: %s %s", cli.FormatBytes(a.Bytes), a.What)
	}
	need := learn.Total(plan.Memory)
	limit, limited := m.task.MemoryLimit()
	if !limited {
		m.say("memory: about %s together; the container has no limit", cli.FormatBytes(need))
		return nil
	}
	m.say("memory: about %s together, of the %s that a container of %d MB leaves (-Xmx of its JVM: %d MB)",
		cli.FormatBytes(need), cli.FormatBytes(limit), m.task.MemoryMB, m.task.HeapMB)
	if need > limit {
		return cli.Usagef("this run takes about %s, but a container of %d MB leaves %s beside its JVM: -D mapreduce.map.memory.mb=%d is enough; a smaller -b or --mem takes less",
			cli.FormatBytes(need), m.task.MemoryMB, cli.FormatBytes(limit), m.task.MemoryFor(need))
	}
	debug.SetMemoryLimit(int64(min(limit, math.MaxInt64)))
	return nil
}

// count counts what is read of an input in the first pass.
func (m *mapTask) count(in learn.Input) learn.Input {
	open := in.Open
	in.Open = func(ctx context.Context) (io.ReadCloser, error) {
		r, err := open(ctx)
		if err != nil {
			return nil, err
		}
		return &countedReader{r, &m.read}, nil
	}
	return in
}

type countedReader struct {
	io.ReadCloser
	n *atomic.Int64
}

func (c *countedReader) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// done tells Hadoop's counters what this task has read.
func (m *mapTask) done() {
	m.report.counter("examples", m.report.examples.Load())
	m.report.counter("bytes", m.read.Load())
}

// keepLog puts the log of a run that has succeeded beside its model.
func (m *mapTask) keepLog(create func(string) (learn.Output, error), name string) error {
	f, err := create(name)
	if err != nil {
		return fmt.Errorf("--log: %w", err)
	}
	if _, err := f.Write(m.lines.log()); err != nil {
		return errors.Join(fmt.Errorf("--log: %w", err), f.Abort())
	}
	return f.Commit()
}

// wholeLines writes whole lines to Hadoop, each by one write: what it finds at the
// beginning of a line may be meant for it. Nobody may be there to read: the task's JVM
// dies of the signal that this process is told to end by, and may die alone.
type wholeLines struct {
	mu   sync.Mutex
	out  io.Writer
	part []byte        // a line under way
	kept *bytes.Buffer // all of it; nil: nothing is kept
}

// Write never fails: a learner does not end for want of a reader.
func (w *wholeLines) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.kept != nil && w.kept.Len()+len(b) <= maxMapperLog {
		w.kept.Write(b)
	}
	w.part = append(w.part, b...)
	end := bytes.LastIndexByte(w.part, '\n') + 1
	for line := range bytes.Lines(w.part[:end]) {
		_, _ = w.out.Write(line)
	}
	w.part = append(w.part[:0], w.part[end:]...)
	return len(b), nil
}

// line writes a line for Hadoop, which is none of the log's.
func (w *wholeLines) line(b []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, _ = w.out.Write(b)
}

// flush ends a line under way.
func (w *wholeLines) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.part) > 0 {
		_, _ = w.out.Write(append(w.part, '\n'))
		w.part = nil
	}
}

// log is what was kept.
func (w *wholeLines) log() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return bytes.Clone(w.kept.Bytes())
}

// reportEvery is the time between two lines for Hadoop: at most 10 s, and well below the
// silence after which it kills the task.
func reportEvery(timeout time.Duration) time.Duration {
	const often = 10 * time.Second
	if timeout == 0 {
		return often
	}
	return max(min(often, timeout/4), time.Second)
}
