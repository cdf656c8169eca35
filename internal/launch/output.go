// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"time"
)

// output copies what a process writes to a writer that is not a file. The copying of package os/exec stops at
// WaitDelay even if the writer is only slow, and the bytes that are still in the pipe are lost.
type output struct {
	pipe    *os.File // from which this process reads
	theirs  *os.File // to which the started process writes
	to      io.Writer
	before  *output       // the output of the attempt before, which is copied first; nil: there is none
	ended   atomic.Bool   // the process has ended
	own     atomic.Int64  // bytes that are not yet written and may be the process's own, after its end
	writing atomic.Bool   // bytes that may be the process's own are being written, or wait for before
	done    chan error    // gets the error of the copying; it has room for one
	over    chan struct{} // closed at the end of the copying
}

// ownAtEnd is the most output of a process that may be unwritten when it ends: what a pipe has room for, which is 16 pages
// on Linux, and what io.Copy has read.
var ownAtEnd = int64(max(64<<10, 16*os.Getpagesize()) + 32<<10)

// outputs are those of one process.
type outputs []*output

// redirect gives a command pipes instead of writers that are not files.
func redirect(cmd *exec.Cmd) (all outputs, err error) {
	one := sameWriter(cmd.Stdout, cmd.Stderr)
	for _, w := range []*io.Writer{&cmd.Stdout, &cmd.Stderr} {
		if _, isFile := (*w).(*os.File); isFile || *w == nil {
			continue
		}
		if one && len(all) > 0 {
			*w = cmd.Stdout
			continue
		}
		pipe, theirs, err := os.Pipe()
		if err != nil {
			return nil, errors.Join(fmt.Errorf("cannot make a pipe for the output: %w", err), all.close())
		}
		o := &output{pipe: pipe, theirs: theirs, to: *w, done: make(chan error, 1), over: make(chan struct{})}
		o.own.Store(ownAtEnd)
		all = append(all, o)
		*w = theirs
	}
	return all, nil
}

// sameWriter reports whether two writers are the same. Those whose types cannot be compared are not.
func sameWriter(a, b io.Writer) bool {
	defer func() { _ = recover() }()
	return a == b
}

// start begins the copying, which follows that of the attempt before. The process has been started, and has its own copies
// of the ends that it writes to.
func (all outputs) start(before outputs) {
	for i, o := range all {
		_ = o.theirs.Close() // nothing was written to it
		if before != nil {
			o.before = before[i] // both have the writers of the same command
		}
		// wait receives from done.
		go func() {
			defer close(o.over)
			o.done <- o.copy()
		}()
	}
}

// close closes the pipes of a process that was not started.
func (all outputs) close() (err error) {
	for _, o := range all {
		err = errors.Join(err, o.pipe.Close(), o.theirs.Close())
	}
	return err
}

// copy copies until all have closed the other end of the pipe, or close was called.
func (o *output) copy() error {
	if o.before != nil {
		o.writing.Store(true)
		<-o.before.over
		o.writing.Store(false)
		o.before = nil
	}
	_, err := io.Copy(o, o.pipe)
	_ = o.pipe.Close() // after a failed write the process gets SIGPIPE
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

// Write writes to the writer of the command.
func (o *output) Write(b []byte) (int, error) {
	own := o.own.Load() > 0
	if o.ended.Load() {
		o.own.Add(-int64(len(b)))
	}
	o.writing.Store(own)
	defer o.writing.Store(false)
	return o.to.Write(b)
}

// wait waits for the rest of the output of a process that has ended. Processes that it has left behind may hold the
// pipes open, so wait stops after the time delay; 0: it does not. The time in which a writer takes bytes that may be the
// process's own does not count.
func (all outputs) wait(delay time.Duration) (err error) {
	for _, o := range all {
		o.ended.Store(true)
	}
	left := delay
	for _, o := range all {
		err = errors.Join(err, o.wait(&left, delay/20))
	}
	return err
}

// wait waits for the end of one output. It subtracts from left in steps of tick.
func (o *output) wait(left *time.Duration, tick time.Duration) error {
	if tick <= 0 {
		return <-o.done
	}
	for {
		select {
		case err := <-o.done:
			return err
		case <-time.After(tick):
		}
		if o.writing.Load() {
			continue
		}
		if *left -= tick; *left <= 0 {
			_ = o.pipe.Close() // copy returns
			return <-o.done
		}
	}
}
