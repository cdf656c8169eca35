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
	"github.com/gvw-project/gvw/option"
)

// mapTask is a running map task: its reports to Hadoop, and the limits that Hadoop sets.
type mapTask struct {
	task   hadoop.Task
	phased bool // the task calls gvw mapper several times
	lines  *lineWriter
	report *taskReport
	read   atomic.Int64 // bytes of text read
	stop   chan struct{}
	wait   sync.WaitGroup
}

// newMapper returns a map task and starts its reports, which end with close.
func newMapper(t hadoop.Task, stderr io.Writer) *mapTask {
	m := &mapTask{task: t, lines: &lineWriter{out: stderr}, stop: make(chan struct{})}
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

// printf prints a line of diagnostics.
func (m *mapTask) printf(format string, args ...any) {
	fmt.Fprintf(m.lines, "gvw mapper: "+format+"\n", args...)
}

// Prepare checks the memory and connects the reports. The learner calls it before it allocates
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

// checkMemory prints the memory that the run takes, and returns a UsageError if it is more than
// the container allows: YARN would kill the container during the run. Otherwise the limit of
// the container becomes that of the garbage collector.
func (m *mapTask) checkMemory(cfg *learn.Config) error {
	if err := m.keepExamples(cfg); err != nil {
		return err
	}
	plan, err := cfg.Plan()
	if err != nil {
		return err
	}
	for _, a := range plan.Memory {
		m.printf("memory: %s %s", cli.FormatBytes(a.Bytes), a.What)
	}
	need := learn.Total(plan.Memory)
	limit, limited := m.task.MemoryLimit()
	if !limited {
		m.printf("memory: about %s together; the container has no limit", cli.FormatBytes(need))
		return nil
	}
	m.printf("memory: about %s together, of the %s that a container of %d MB leaves (-Xmx of its JVM: %d MB)",
		cli.FormatBytes(need), cli.FormatBytes(limit), m.task.MemoryMB, m.task.HeapMB)
	if need > limit {
		return cli.Usagef("this run takes about %s, but a container of %d MB leaves %s beside its JVM: -D mapreduce.map.memory.mb=%d is enough; a smaller -b or --mem takes less",
			cli.FormatBytes(need), m.task.MemoryMB, cli.FormatBytes(limit), m.task.MemoryFor(need))
	}
	debug.SetMemoryLimit(int64(min(limit, math.MaxInt64)))
	return nil
}

// keepExamples limits the examples in memory to half of what the container leaves beside all other memory, unless the
// user has given a limit.
func (m *mapTask) keepExamples(cfg *learn.Config) error {
	limit, limited := m.task.MemoryLimit()
	if !limited || cfg.Data.ExampleMemory.Set {
		return nil
	}
	without := *cfg
	without.Data.ExampleMemory = option.Some(0)
	plan, err := without.Plan()
	if err != nil {
		return err
	}
	left := limit - min(learn.Total(plan.Memory), limit)
	cfg.Data.ExampleMemory = option.Some(int(min(left/2, learn.DefaultExampleMemory)))
	return nil
}

// count makes an input count its bytes.
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

// countedReader is an input that adds the bytes read to n.
type countedReader struct {
	io.ReadCloser
	n *atomic.Int64
}

func (c *countedReader) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// done adds the examples and bytes of this task to Hadoop's counters.
func (m *mapTask) done() {
	m.report.counter("examples", m.report.examples.Load())
	m.report.counter("bytes", m.read.Load())
}

// keepLog writes the log of a successful run beside its model.
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

// lineWriter writes whole lines to Hadoop, each by one write, since Hadoop interprets some
// lines. Write errors are ignored: the task's JVM may have died, of the signal that is about to
// end this process or by itself.
type lineWriter struct {
	mu   sync.Mutex
	out  io.Writer
	part []byte        // an incomplete line
	kept *bytes.Buffer // all text; nil: it is not kept
}

// Write writes the complete lines of b. It always succeeds, since a learner need not end
// because its output is not read.
func (w *lineWriter) Write(b []byte) (int, error) {
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

// line writes a line for Hadoop that is not part of the log.
func (w *lineWriter) line(b []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, _ = w.out.Write(b)
}

// flush ends an incomplete line.
func (w *lineWriter) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.part) > 0 {
		_, _ = w.out.Write(append(w.part, '\n'))
		w.part = nil
	}
}

// log returns the text that was kept.
func (w *lineWriter) log() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return bytes.Clone(w.kept.Bytes())
}

// reportEvery returns the time between two reports: at most 10 s, and well below the silence
// after which Hadoop kills the task.
func reportEvery(timeout time.Duration) time.Duration {
	const often = 10 * time.Second
	if timeout == 0 {
		return often
	}
	return max(min(often, timeout/4), time.Second)
}
