// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gvw-project/gvw/internal/logformat"
)

// Process has the arguments, the environment and the streams of this process. Tests run
// commands on a Process of their own.
type Process struct {
	Name string   // by which the program was started
	Args []string // without that name
	Env  []string // NAME=value
	// Stdin is a file, since a wait for its data must be interruptible.
	Stdin *os.File
	// Stdout gets data only.
	Stdout io.Writer
	// Stderr gets the diagnostics. A command may replace it, for example by a writer
	// that keeps a progress line at the bottom of a terminal.
	Stderr io.Writer
	// Rewrite rewrites the texts of log lines; nil: they remain. See [FieldOptions].
	Rewrite func(text string) string
	// LogFormat is the form of log lines and of the error that ends the process (package logformat). "": text.
	LogFormat string
	// LogCopy gets the bytes of each log line, too; nil: stderr only. It must not wait.
	LogCopy io.Writer
	// Exit ends the process at once, without the functions of AtEnd; os.Exit outside of tests.
	Exit func(code int)

	mu      sync.Mutex
	atEnd   []func() error
	atKill  []func()
	cleanup time.Duration
}

// AllowCleanup extends the time that the process has to end after a signal: a server saves its model then.
func (p *Process) AllowCleanup(within time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cleanup = within
}

// cleanupWithin returns the time that the process has to end after a signal, at least d.
func (p *Process) cleanupWithin(d time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(d, p.cleanup)
}

// AtEnd registers a function that End calls.
func (p *Process) AtEnd(end func() error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.atEnd = append(p.atEnd, end)
}

// End calls the functions that AtEnd has registered since the last call, in their order, and
// returns all their errors.
func (p *Process) End() error {
	p.mu.Lock()
	all := p.atEnd
	p.atEnd = nil
	p.mu.Unlock()
	var errs []error
	for _, end := range all {
		errs = append(errs, end())
	}
	return errors.Join(errs...)
}

// AtKill registers a function that runs if the process has to end before its command has
// returned: it removes temporary files.
func (p *Process) AtKill(remove func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.atKill = append(p.atKill, remove)
}

// kill prepares for a forced end of the process.
func (p *Process) kill() {
	p.mu.Lock()
	all := slices.Clone(p.atKill)
	p.mu.Unlock()
	for _, remove := range all {
		remove()
	}
}

// LookupEnv returns the value of a variable and whether it is set. Of several values
// the last one counts, as for os/exec.
func (p *Process) LookupEnv(name string) (value string, ok bool) {
	for _, kv := range p.Env {
		if n, v, _ := strings.Cut(kv, "="); n == name {
			value, ok = v, true
		}
	}
	return value, ok
}

// Getenv returns the value of a variable, or "" if it is not set.
func (p *Process) Getenv(name string) string {
	value, _ := p.LookupEnv(name)
	return value
}

// Print writes data to stdout.
func (p *Process) Print(s string) error {
	_, err := io.WriteString(p.Stdout, s)
	return err
}

// Logger returns a logger that writes lines of at least the given level to stderr.
// Lines of text have a time only if timed is true: it is useful where several processes write.
func (p *Process) Logger(level slog.Level, timed bool) *slog.Logger {
	opts := &slog.HandlerOptions{Level: level, ReplaceAttr: ReplaceAttr(p.Rewrite, timed || p.LogFormat == logformat.JSON)}
	out := p.Stderr
	if p.LogCopy != nil {
		out = copied{p.Stderr, p.LogCopy}
	}
	return slog.New(logformat.New(out, p.LogFormat, opts))
}

// copied is a writer of log lines to two places. The copy is complete although stderr fails.
type copied struct{ out, copy io.Writer }

func (c copied) Write(b []byte) (int, error) {
	_, _ = c.copy.Write(b) // a queue, or a buffer
	return c.out.Write(b)
}

// Note prints a line about the command line or the end of the process: "gvw: " and the text or, in the form JSON, a
// record of the level.
func (p *Process) Note(level slog.Level, text string, attrs ...any) {
	if p.LogFormat == logformat.JSON {
		p.Logger(level, true).Log(context.Background(), level, text, attrs...)
		return
	}
	fmt.Fprintln(p.Stderr, "gvw: "+text)
}

// Diagnostics returns a writer that writes to the current Stderr. A logger that lives longer
// than a progress line uses it, since Stderr is replaced meanwhile.
func (p *Process) Diagnostics() io.Writer { return diagnostics{p} }

// diagnostics is the writer that Diagnostics returns.
type diagnostics struct{ p *Process }

func (d diagnostics) Write(b []byte) (int, error) { return d.p.Stderr.Write(b) }
