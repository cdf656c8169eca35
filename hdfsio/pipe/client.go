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

// Config describes how to start the client.
type Config struct {
	// Command is the client with its first arguments, such as hdfs dfs. Required.
	Command []string
	// Env is the client's environment; nil: this process's.
	Env []string
	// Prefix begins the names that are passed to the client, such as hdfs://nn:8020; empty:
	// its own default.
	Prefix string
	// Silence is the limit for the client to transfer the first or the next byte;
	// 0: two minutes.
	Silence time.Duration
}

// Validate reports all missing or invalid fields.
func (c Config) Validate() error {
	var errs []error
	if len(c.Command) == 0 {
		errs = append(errs, errors.New("pipe: Command is empty"))
	}
	if c.Silence < 0 {
		errs = append(errs, fmt.Errorf("pipe: Silence: got %v, want 0 or more", c.Silence))
	}
	return errors.Join(errs...)
}

// Client is a remote.Backend that starts a process per call.
type Client struct{ cfg Config }

var _ remote.Backend = (*Client)(nil)

// New makes a client. It does not start a process yet.
func New(cfg Config) (*Client, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.Silence = cmp.Or(cfg.Silence, 2*time.Minute)
	return &Client{cfg: cfg}, nil
}

func (c *Client) String() string { return strings.Join(c.cfg.Command, " ") }

// Seeks returns false: the client always starts at the beginning of a file.
func (c *Client) Seeks() bool { return false }

// name returns the client's argument for a path, with pattern characters escaped.
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

// process is a running client.
type process struct {
	cmd    *exec.Cmd
	cancel context.CancelCauseFunc
	ctx    context.Context
	watch  *time.Timer // kills the process when it expires
	silent time.Duration
	errors tail
}

// errSilent is the cause of killing a client.
var errSilent = errors.New("it moved nothing")

// prepare returns a process that is ready to start. args follow Command. Its stderr is
// kept.
func (c *Client) prepare(args ...string) *process {
	ctx, cancel := context.WithCancelCause(context.Background())
	words := append(c.cfg.Command[:len(c.cfg.Command):len(c.cfg.Command)], args...)
	p := &process{cmd: exec.CommandContext(ctx, words[0], words[1:]...), ctx: ctx, cancel: cancel, silent: c.cfg.Silence}
	p.cmd.Env = c.cfg.Env
	p.cmd.Stderr = &p.errors
	p.cmd.WaitDelay = time.Second // for children that keep the pipes open
	p.watch = time.AfterFunc(p.silent, func() { cancel(errSilent) })
	return p
}

// moved records that the client has transferred bytes.
func (p *process) moved() { p.watch.Reset(p.silent) }

// ended explains the end of a process, from the result of Wait or Run.
func (p *process) ended(err error) error {
	p.watch.Stop()
	defer p.cancel(nil)
	switch {
	case err == nil:
		return nil
	case errors.Is(context.Cause(p.ctx), errSilent):
		return &silentError{fmt.Sprintf("%s transferred nothing for %v: %s", p.cmd.Args[0], p.silent, p.errors.last())}
	}
	if _, ok := errors.AsType[*exec.ExitError](err); !ok && p.cmd.ProcessState == nil {
		return fmt.Errorf("cannot start %s: %w: install Hadoop's client, and add it to PATH", p.cmd.Args[0], err)
	}
	return explain(p.errors.String(), err)
}

// run runs a client to its end and returns its output.
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

// counted and counting report each transfer of bytes to the process.
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

// silentError reports a client that was killed.
type silentError struct{ text string }

func (e *silentError) Error() string   { return e.text }
func (e *silentError) Transient() bool { return true }
