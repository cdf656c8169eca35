// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/crash"
	"github.com/gvw-project/gvw/internal/launch"
)

// logs are the log files of a local job: one for each rank and each spare, and one of the
// server.
type logs struct {
	dir     string
	own     bool       // dir is a temporary folder of this run
	began   bool       // workers have been started
	lost    bool       // a worker has failed
	width   int        // digits of a rank
	workers int        // without spares
	ranks   []*os.File // by process: ranks, then spares
	attempt []int64    // by process: offset of its current attempt in its log
	newest  []int64    // by process: offset of the attempt that has ended last
	memory  *launch.OutOfMemory
	killed  []string // by process: how the kernel has killed it; "": it has not, or that is unknown
	crashes []crash.Trace
	server  *os.File
}

// openLogs creates the folder and the files. Without a name it creates a temporary folder.
func openLogs(dir string, n, spares int) (_ *logs, err error) {
	own := dir == ""
	if own {
		if dir, err = os.MkdirTemp("", "gvw-run-"); err != nil {
			return nil, fmt.Errorf("cannot make a folder for the logs (give one by --log_dir): %w", err)
		}
	} else if err := (hdfsio.Local{}).Mkdir(context.Background(), dir); err != nil {
		return nil, err
	}
	l := &logs{dir: dir, own: own, width: max(2, len(fmt.Sprint(n-1))), workers: n}
	open := func(name string) (*os.File, error) {
		f, err := hdfsio.Local{}.CreateNow(name)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("cannot write logs: %w", err), l.end(io.Discard, nil))
		}
		return f, nil
	}
	if l.server, err = open(filepath.Join(dir, "server.log")); err != nil {
		return nil, err
	}
	for rank := range n + spares {
		f, err := open(l.name(rank))
		if err != nil {
			return nil, err
		}
		l.ranks = append(l.ranks, f)
	}
	l.attempt, l.newest, l.crashes = make([]int64, len(l.ranks)), make([]int64, len(l.ranks)), make([]crash.Trace, len(l.ranks))
	l.memory, l.killed = launch.WatchMemory(), make([]string, len(l.ranks))
	return l, nil
}

// crashed searches the log of a failed attempt for the trace of a crash, and reports whether
// there is one. It also searches after exit code 2, with which Go programs that do not call
// crash.Abort end in a crash.
func (l *logs) crashed(r launch.Result) bool {
	l.crashes[r.Rank] = crash.Trace{}
	begin := l.attempt[r.Rank]
	l.newest[r.Rank] = begin
	// The next attempt appends to the same file: its trace must not be searched in this one.
	if fi, err := l.ranks[r.Rank].Stat(); err == nil {
		l.attempt[r.Rank] = fi.Size()
	}
	if r.Signal != syscall.SIGABRT && r.Code != cli.ExitData {
		return false
	}
	f, err := os.Open(l.name(r.Rank))
	if err != nil {
		return false // the signal is known anyway
	}
	defer f.Close()
	trace, found := crash.Find(io.NewSectionReader(f, begin, math.MaxInt64-begin))
	if found {
		l.crashes[r.Rank] = trace
	}
	return found
}

// killedBy finds out how a failed attempt was killed. The kernel leaves no message to a process that it kills for want of
// memory, but counts it.
func (l *logs) killedBy(r launch.Result) {
	l.killed[r.Rank] = ""
	if r.Signal == nil || r.Code != 137 || r.Hung {
		return
	}
	switch killed, known := l.memory.Killed(); {
	case killed:
		l.killed[r.Rank] = fmt.Sprintf("ended by signal 9, %v: out of memory, as the kernel reports", r.Signal)
	case known:
		l.killed[r.Rank] = fmt.Sprintf("ended by signal 9, %v, and not for want of memory", r.Signal)
	}
}

// howEnded returns how a worker that failed has ended, with the message of a crash.
func (l *logs) howEnded(r launch.Result) string {
	if message := l.crashes[r.Rank].Message; message != "" {
		return "crashed: " + message
	}
	if text := l.killed[r.Rank]; text != "" {
		return text
	}
	return howEnded(r)
}

// name returns the name of the log of a rank or a spare.
func (l *logs) name(rank int) string {
	if rank >= l.workers {
		return filepath.Join(l.dir, fmt.Sprintf("spare-%0*d.log", l.width, rank-l.workers))
	}
	return filepath.Join(l.dir, fmt.Sprintf("rank-%0*d.log", l.width, rank))
}

// note returns a remark for the user if the folder of the logs is temporary, else "".
func (l *logs) note() string {
	if l.own {
		return " (removed if no worker fails)"
	}
	return ""
}

// end closes the files of a run that has ended with err, and returns all errors. It removes a
// temporary folder unless the run or a worker has failed; then it prints the name of the
// folder, if err does not have it.
func (l *logs) end(stderr io.Writer, err error) error {
	errs := []error{err}
	for _, f := range append(l.ranks, l.server) {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	switch {
	case !l.own:
	case !l.began || err == nil && !l.lost:
		errs = append(errs, os.RemoveAll(l.dir))
	case err == nil || !strings.Contains(err.Error(), l.dir):
		fmt.Fprintf(stderr, "gvw run: the logs stay in %s\n", l.dir)
	}
	return errors.Join(errs...)
}

// lastLines returns up to n lines of the end of a file, or none if it cannot be read. It is for
// messages only.
func lastLines(name string, n int) []string {
	const enough = 16 << 10
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	if fi, err := f.Stat(); err == nil && fi.Size() > enough {
		// A log can be large, and the last lines are short.
		if _, err := f.Seek(-enough, io.SeekEnd); err != nil {
			return nil
		}
	}
	b, err := io.ReadAll(io.LimitReader(f, enough))
	if err != nil {
		return nil
	}
	text := strings.TrimRight(string(b), "\n")
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	return lines[max(0, len(lines)-n):]
}
