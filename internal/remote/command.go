// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/launch"
)

// Call is what gvw remote tether gets, as JSON in its arguments.
type Call struct {
	SSH     []string `json:"ssh"`
	Host    string   `json:"host"`
	Program string   `json:"program"`
	Order   Order    `json:"order"` // without secret and attempt, which the launcher gives as to any worker
}

// maxWord is the size of an argument of gvw remote tether. Linux takes 128 KiB at most.
const maxWord = 64 << 10

// Words returns the arguments of gvw that start a tether for this call. The JSON may be longer than an argument may be, so
// it is divided.
func (c *Call) Words() ([]string, error) {
	text, err := json.Marshal(c)
	words := []string{"remote", "tether"}
	for part := range slices.Chunk(text, maxWord) {
		words = append(words, string(part))
	}
	return words, err
}

// cleanup is the time that each process has to end its worker after a signal.
const cleanup = 12 * time.Second

// Command runs gvw remote, which gvw run --hosts starts.
func Command(ctx context.Context, p *cli.Process, _ *cli.Command, args []string) error {
	p.AllowCleanup(cleanup)
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find this program to start a worker: %w", err)
	}
	switch {
	case len(args) >= 2 && args[0] == "tether":
		return tether(ctx, p, strings.Join(args[1:], ""))
	case len(args) == 1 && args[0] == "front":
		return Front(ctx, p.Stdin, p.Stdout, os.TempDir(), self, p.Env)
	case len(args) == 2 && args[0] == "keep":
		return Keep(ctx, p.Stdin, args[1], self, p.Env, p.Stdout)
	}
	return cli.Usagef("gvw remote is started by gvw run --hosts, which connects it to its workers: see gvw run --help")
}

// tether runs gvw remote tether. It exits like the worker, and prints nothing about that: the worker has.
func tether(ctx context.Context, p *cli.Process, text string) error {
	var call Call
	if err := json.Unmarshal([]byte(text), &call); err != nil {
		return cli.Usagef("gvw remote tether: %w", err)
	}
	secret, err := inherited(p)
	if err != nil {
		return err
	}
	call.Order.Secret, call.Order.Attempt = secret, 1
	if n, err := strconv.Atoi(p.Getenv(launch.EnvAttempt)); err == nil && n > 0 {
		call.Order.Attempt = n
	}
	over := make(chan os.Signal, 1)
	notifyOver(over)
	defer signal.Stop(over)
	t := Tether{SSH: call.SSH, Host: call.Host, Program: call.Program, Order: call.Order, Out: p.Stderr, Over: over}
	end, err := t.Run(ctx)
	switch {
	case errors.Is(err, ErrOver):
		end = End{Signal: int(syscall.SIGKILL)} // whether the worker has succeeded is not known here
	case err != nil:
		return err
	}
	if end.Error != "" {
		return &cli.ExitError{Code: cli.ExitIO, Text: call.Host + ": " + end.Error}
	}
	if end.Signal == int(syscall.SIGKILL) {
		if self, err := os.FindProcess(os.Getpid()); err == nil && self.Kill() == nil {
			select {} // the signal ends the process
		}
	}
	if end.Code != 0 {
		p.Exit(end.Code)
	}
	return nil
}

// inherited reads the secret of the run from its descriptor; nil: there is none.
func inherited(p *cli.Process) ([]byte, error) {
	value := p.Getenv(launch.EnvSecret)
	if value == "" {
		return nil, nil
	}
	fd, err := strconv.ParseUint(value, 10, 31)
	if err != nil {
		return nil, cli.Usagef("%s=%s is no file descriptor", launch.EnvSecret, value)
	}
	f := os.NewFile(uintptr(fd), "secret")
	b, err := io.ReadAll(io.LimitReader(f, 1<<16))
	return b, errors.Join(err, f.Close())
}
