// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/gvw-project/gvw/hdfsio/remote"
)

// Config is how to start the client.
type Config struct {
	// Command is the client and its first words, like hdfs dfs. Required.
	Command []string
	// Env is the client's environment; nil: this process's.
	Env []string
	// Prefix begins the names that the client is told, like hdfs://nn:8020; empty: its
	// own default.
	Prefix string
	// Silence is how long the client may take without moving a byte, its start
	// included; 0: two minutes.
	Silence time.Duration
}

// Validate reports what is missing or cannot be.
func (c Config) Validate() error {
	var errs []error
	if len(c.Command) == 0 {
		errs = append(errs, errors.New("pipe: no command is given"))
	}
	if c.Silence < 0 {
		errs = append(errs, fmt.Errorf("pipe: Silence is %v: it is a time from 0 on", c.Silence))
	}
	return errors.Join(errs...)
}

// Client is a remote.Backend by a process per call.
type Client struct{ cfg Config }

var _ remote.Backend = (*Client)(nil)

// New makes a client. It starts nothing yet.
func New(cfg Config) (*Client, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.Silence = cmp.Or(cfg.Silence, 2*time.Minute)
	return &Client{cfg: cfg}, nil
}

func (c *Client) String() string { return strings.Join(c.cfg.Command, " ") }

// Seeks is false: the client begins at the beginning.
func (c *Client) Seeks() bool { return false }

// name returns how the client is told a path, nothing of which is a pattern.
func (c *Client) name(path string) string {
	var b strings.Builder
	b.WriteString(c.cfg.Prefix)
	for _, r := range path {
		if strings.ContainsRune(`*?[]{}\`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// process is a client that runs.
type process struct {
	cmd    *exec.Cmd
	cancel context.CancelCauseFunc
	ctx    context.Context
	watch  *time.Timer // ends it if it is silent
	silent time.Duration
	errors tail
}

// errSilent is why a client was ended.
var errSilent = errors.New("it moved nothing")

// prepare makes a process ready to start. args are those behind Command; what it says
// on stderr is kept.
func (c *Client) prepare(args ...string) *process {
	ctx, cancel := context.WithCancelCause(context.Background())
	words := append(c.cfg.Command[:len(c.cfg.Command):len(c.cfg.Command)], args...)
	p := &process{cmd: exec.CommandContext(ctx, words[0], words[1:]...), ctx: ctx, cancel: cancel, silent: c.cfg.Silence}
	p.cmd.Env = c.cfg.Env
	p.cmd.Stderr = &p.errors
	p.cmd.WaitDelay = time.Second // for children that still hold the pipes
	p.watch = time.AfterFunc(p.silent, func() { cancel(errSilent) })
	return p
}

// moved notes that the client has moved something.
func (p *process) moved() { p.watch.Reset(p.silent) }

// ended says how a process has ended, from what Wait or Run returned.
func (p *process) ended(err error) error {
	p.watch.Stop()
	defer p.cancel(nil)
	switch {
	case err == nil:
		return nil
	case errors.Is(context.Cause(p.ctx), errSilent):
		return &silentError{fmt.Sprintf("%s moved nothing for %v: %s", p.cmd.Args[0], p.silent, p.errors.last())}
	}
	if _, ok := errors.AsType[*exec.ExitError](err); !ok && p.cmd.ProcessState == nil {
		return fmt.Errorf("cannot start %s: %w: is Hadoop's client installed, and in PATH?", p.cmd.Args[0], err)
	}
	return explain(p.errors.String(), err)
}

// run runs a client to its end and returns what it printed.
func (c *Client) run(stdin io.Reader, args ...string) (string, error) {
	p := c.prepare(args...)
	var out strings.Builder
	p.cmd.Stdout = &counted{w: &out, moved: p.moved}
	if stdin != nil {
		p.cmd.Stdin = &counting{r: stdin, moved: p.moved}
	}
	err := p.ended(p.cmd.Run())
	return out.String(), err
}

// counted and counting tell of every byte that goes through.
type (
	counted struct {
		w     io.Writer
		moved func()
	}
	counting struct {
		r     io.Reader
		moved func()
	}
)

func (c *counted) Write(b []byte) (int, error) {
	c.moved()
	return c.w.Write(b)
}

func (c *counting) Read(b []byte) (int, error) {
	c.moved()
	return c.r.Read(b)
}

// silentError is for a client that had to be ended.
type silentError struct{ text string }

func (e *silentError) Error() string   { return e.text }
func (e *silentError) Transient() bool { return true }
