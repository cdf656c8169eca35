// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// A Go program cannot fork; it starts itself anew, in a session of its own,
// with a pipe on which the child says that it listens. Until then the command
// stays, so that the user's terminal and the caller's $? learn of failures. Then the child
// lets go of the caller's stderr: ssh and $(spanning_tree) would wait for its end.

// readyEnv tells a process that it is the child, and readyFD is its pipe.
const (
	readyEnv = "GVW_SPANNING_TREE_READY"
	readyFD  = 3
	readyIn  = 30 * time.Second
)

// startDaemon returns when the server in the background listens, with code 0 and its
// port, or when it has failed, with its exit code; it has said why then.
func startDaemon(args []string) (code, port int, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, 0, fmt.Errorf("cannot find this program to start it in the background: %w", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return 0, 0, fmt.Errorf("cannot start the server in the background: %w", err)
	}
	defer r.Close()
	cmd := &exec.Cmd{
		Path: self, Args: append([]string{os.Args[0]}, args...), Env: append(os.Environ(), readyEnv+"=1"),
		Stderr:     os.Stderr, // until it listens
		ExtraFiles: []*os.File{w}, SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	err = cmd.Start()
	_ = w.Close() // the child has its own
	if err != nil {
		return 0, 0, fmt.Errorf("cannot start the server in the background: %w", err)
	}
	if err := r.SetReadDeadline(time.Now().Add(readyIn)); err != nil {
		return 0, 0, err
	}
	var listens [2]byte
	switch _, err := io.ReadFull(r, listens[:]); {
	case err == nil:
		return 0, int(binary.BigEndian.Uint16(listens[:])), cmd.Process.Release()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return 0, 0, errors.Join(&deadlineError{readyIn}, cmd.Process.Kill(), cmd.Process.Release())
	}
	err = cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() > 0 {
		return exit.ExitCode(), 0, nil
	}
	return 0, 0, fmt.Errorf("the server in the background has ended: %v", cmd.ProcessState)
}

// daemonChild tells whether this process is the child, and how it says that
// it is ready.
func daemonChild() (ready func(port int, log *os.File), child bool) {
	if os.Getenv(readyEnv) == "" {
		return func(int, *os.File) {}, false
	}
	pipe := os.NewFile(readyFD, "ready")
	return func(port int, log *os.File) {
		leaveStderr(log)
		_, _ = pipe.Write(binary.BigEndian.AppendUint16(nil, uint16(port))) // a parent that is gone does not matter
		_ = pipe.Close()
	}, true
}

// leaveStderr makes the log this process's stderr, which also gets the trace of a crash. Without
// a log stderr stays if it is a file: no caller waits for its end.
func leaveStderr(log *os.File) {
	if log == nil {
		if fi, err := os.Stderr.Stat(); err == nil && fi.Mode().IsRegular() {
			return
		}
		null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		if err != nil {
			return // then the caller waits, as for any command that stays
		}
		defer null.Close()
		log = null
	}
	_ = duplicate(int(log.Fd()), int(os.Stderr.Fd())) // the same
}

// ignoreBrokenPipes keeps the server alive when who reads its log has gone: Go
// ends a program that writes to a closed stderr.
func ignoreBrokenPipes() { signal.Ignore(syscall.SIGPIPE) }
