// SPDX-License-Identifier: Apache-2.0

package run

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/crash"
	"github.com/gvw-project/gvw/internal/launch"
	"github.com/gvw-project/gvw/internal/monitor/cause"
	"github.com/gvw-project/gvw/internal/plain"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// showCrash prints the cause of a crash, from the log of the process. That of rank 0 is on the
// terminal already.
func (p *launcher) showCrash(r launch.Result, pl *plan, logs *logs, terminal *crash.Filter) {
	if r.Rank == 0 {
		terminal.Reset()
	}
	if !logs.crashed(r) || r.Rank == 0 {
		return
	}
	fmt.Fprintf(p.Stderr, "gvw run: %s crashed; from %s:\n", pl.name(r.Rank), logs.name(r.Rank))
	for _, line := range logs.crashes[r.Rank].Lines() {
		fmt.Fprintf(p.Stderr, "  | %s\n", line)
	}
}

// rootCause prints the end of the log of the rank that failed first, and returns the error of
// the run.
func (p *launcher) rootCause(r launch.Result, pl *plan, logs *logs, found *protocol.FoundCause) error {
	name := logs.name(r.Rank)
	lines := lastLines(name, 10)
	if r.Rank != 0 && len(lines) > 0 && logs.crashes[r.Rank].Message == "" { // not yet on the terminal
		fmt.Fprintf(p.Stderr, "gvw run: %s failed first; the end of %s:\n", pl.name(r.Rank), name)
		for _, l := range lines {
			fmt.Fprintf(p.Stderr, "  | %s\n", l)
		}
	}
	// The exit code of the run is that of the cause, so scripts can react as to a single process.
	// A signal has no code of gvw: the rank counts as lost.
	e := &cli.ExitError{Code: r.Code}
	how := logs.howEnded(r)
	switch {
	case r.Err != nil:
		e.Code = cli.ExitIO
	case r.Signal != nil:
		e.Code = cli.ExitLost
	case len(lines) > 0:
		how += ": " + strings.TrimPrefix(lines[len(lines)-1], "gvw: ")
	}
	if r.Attempt > 1 {
		how = fmt.Sprintf("attempt %d, %s", r.Attempt, how)
	}
	e.Text = fmt.Sprintf("%s failed first, after %.1f s (%s)%s; logs in %s", pl.name(r.Rank), r.After.Seconds(), how, p.foundText(r, how, pl, logs, found), filepath.Dir(name))
	return e
}

// foundText returns what the server and the logs add to the end of the rank that failed first: the cause that the
// server has found, unless the end tells as much, and the first error of the rank that the cause names.
func (p *launcher) foundText(r launch.Result, how string, pl *plan, logs *logs, found *protocol.FoundCause) (text string) {
	rank := r.Rank
	if found != nil && found.Rank >= 0 && found.Rank < len(pl.workers) {
		rank = found.Rank
	}
	switch {
	case found == nil || strings.Contains(how, found.Line):
	case rank == r.Rank && (r.Signal != nil || cause.Kind(found.Kind) == cause.ProcessEnded):
		// The launcher knows how the process has ended, and the server only that it has.
	case r.Signal != nil && cause.Kind(found.Kind) == cause.ToldToStop:
		// The launcher told the other rank to stop because this process had been killed.
		rank = r.Rank
	default:
		line := found.Line
		if at := strings.Index(line, ": "); at > 0 && strings.Contains(how, strings.TrimSuffix(line[at+2:], "…")) {
			line = line[:at] // its end is that of the log
		}
		text = "; root cause: " + plain.Text(line)
	}
	if first := firstError(logs.name(rank), logs.newest[rank]); first != "" && !strings.Contains(plain.Text(how)+text, strings.TrimSuffix(first, "…")) {
		text += fmt.Sprintf("; the first error of %s: %s", pl.name(rank), first)
	}
	return text
}

// howEnded describes the end of a worker that failed.
func howEnded(r launch.Result) string {
	switch {
	case r.Err != nil:
		return r.Err.Error()
	case r.Hung:
		return "the server had given it up, but it had not ended: killed"
	case r.Signal == syscall.SIGABRT:
		return fmt.Sprintf("crashed: signal %d, %v", r.Code-128, r.Signal)
	// The kernel kills by signal 9 if memory runs out, and leaves no message.
	case r.Code == 137 && r.Signal != nil:
		return fmt.Sprintf("ended by signal 9, %v: out of memory?", r.Signal)
	case r.Signal != nil:
		return fmt.Sprintf("ended by signal %d, %v", r.Code-128, r.Signal)
	}
	return fmt.Sprintf("exit code %d", r.Code)
}
