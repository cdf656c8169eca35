// SPDX-License-Identifier: Apache-2.0

//go:build unix

package background

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
	"time"
)

const (
	readyFD = 3                // the pipe's descriptor in the child
	readyIn = 30 * time.Second // Program.Within by default
)

// Start starts the background server. It returns code 0 and the port when the server
// listens, or the server's exit code when it has failed and printed the error.
func (p *Program) Start() (code, port int, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, 0, fmt.Errorf("cannot start the background server: cannot find this executable: %w", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return 0, 0, fmt.Errorf("cannot start the background server: %w", err)
	}
	defer r.Close()
	cmd := &exec.Cmd{
		Path: self, Args: p.Args, Env: append(slices.Clone(p.Env), p.Variable+"=1"),
		Stderr:     p.Stderr, // until the child listens
		ExtraFiles: []*os.File{w}, SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	err = cmd.Start()
	_ = w.Close() // the child has its own copy
	if err != nil {
		return 0, 0, fmt.Errorf("cannot start the background server: %w", err)
	}
	if err := r.SetReadDeadline(time.Now().Add(cmp.Or(p.Within, readyIn))); err != nil {
		return 0, 0, err
	}
	var listens [2]byte
	switch _, err := io.ReadFull(r, listens[:]); {
	case err == nil:
		return 0, int(binary.BigEndian.Uint16(listens[:])), cmd.Process.Release()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return 0, 0, errors.Join(&DeadlineError{cmp.Or(p.Within, readyIn), p.Foreground}, cmd.Process.Kill(), cmd.Process.Release())
	}
	err = cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() > 0 {
		return exit.ExitCode(), 0, nil
	}
	return 0, 0, fmt.Errorf("the background server ended before it listened: %v", cmd.ProcessState)
}

// Child reports whether this process is the child. ready detaches the child from the
// caller's stderr and sends its port to the parent; in other processes it does nothing.
func (p *Program) Child() (ready func(port int, log *os.File), child bool) {
	if !slices.Contains(p.Env, p.Variable+"=1") {
		return func(int, *os.File) {}, false
	}
	pipe := os.NewFile(readyFD, "ready")
	return func(port int, log *os.File) {
		leaveStderr(p.Stderr, log)
		_, _ = pipe.Write(binary.BigEndian.AppendUint16(nil, uint16(port))) // the parent may have ended
		_ = pipe.Close()
	}, true
}

// leaveStderr replaces stderr by the log file, which then also receives the trace of a crash.
// Without a log file it replaces stderr by the null device, unless stderr is a regular
// file, for whose end no caller waits.
func leaveStderr(stderr, log *os.File) {
	if stderr == nil {
		return
	}
	if log == nil {
		if fi, err := stderr.Stat(); err == nil && fi.Mode().IsRegular() {
			return
		}
		null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		if err != nil {
			return // the caller then waits, as for a foreground command
		}
		defer null.Close()
		log = null
	}
	_ = duplicate(int(log.Fd()), int(stderr.Fd())) // on failure the caller waits, too
}

// IgnoreBrokenPipes keeps the server running when the reader of its log has gone: by
// default Go ends a program that writes to a broken stderr.
func IgnoreBrokenPipes() { signal.Ignore(syscall.SIGPIPE) }
