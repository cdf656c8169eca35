// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/internal/background"
	"github.com/gvw-project/gvw/internal/crash"
	"github.com/gvw-project/gvw/internal/logformat"
	"github.com/gvw-project/gvw/internal/plain"
	"github.com/gvw-project/gvw/internal/spantree/server"
)

// Exit codes. 130 and 143 are the codes that shells use for SIGINT and SIGTERM.
const (
	exitUsage    = 1
	exitData     = 2
	exitDeadline = 4
	exitIO       = 5
	exitRefused  = 6
	exitINT      = 130
	exitTERM     = 143
)

func main() {
	crash.Abort(os.Getenv("GOTRACEBACK") == "crash")
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run runs the command and returns its exit code.
func run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args)
	switch {
	case err != nil:
		return fail(stderr, err)
	case o.help:
		fmt.Fprint(stdout, help)
		return 0
	case o.version:
		fmt.Fprintln(stdout, version())
		return 0
	}
	self := background.Program{Variable: "GVW_SPANNING_TREE_READY", Args: append([]string{os.Args[0]}, args...), Env: os.Environ(), Stderr: os.Stderr, Foreground: "--nondaemon"}
	ready, child := self.Child()
	if !o.nondaemon && !child {
		code, port, err := self.Start()
		if err != nil {
			return fail(stderr, err)
		}
		if code == 0 && o.port == 0 {
			fmt.Fprintln(stdout, port)
		}
		return code
	}
	// The server's heap is small and long-lived: a smaller heap is worth more frequent
	// collections.
	debug.SetGCPercent(30)
	code, err := serve(o, stdout, stderr, ready)
	if err != nil {
		return fail(stderr, err)
	}
	return code
}

// fail prints the error and returns its exit code.
func fail(stderr io.Writer, err error) int {
	fmt.Fprintln(stderr, "spanning_tree: "+plain.Text(strings.ReplaceAll(fieldOptions.Replace(err.Error()), "\n", "; ")))
	if _, ok := errors.AsType[*usageError](err); ok || errors.Is(err, errors.ErrUnsupported) {
		return exitUsage
	}
	if _, ok := errors.AsType[*auth.Error](err); ok {
		return exitRefused
	}
	if _, ok := errors.AsType[*server.JournalError](err); ok {
		return exitData
	}
	if _, ok := errors.AsType[*background.DeadlineError](err); ok {
		return exitDeadline
	}
	return exitIO
}

// serve runs the server until a signal ends it, and returns the exit code. It calls ready
// when the server listens, with the port and the log file (nil for stderr).
func serve(o options, stdout, stderr io.Writer, ready func(port int, log *os.File)) (code int, err error) {
	out := stderr
	var file *os.File
	if o.log != "" {
		if file, err = os.OpenFile(o.log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
			return 0, fmt.Errorf("cannot open the log: %w%s", err, createDir(o.log, err))
		}
		defer file.Close()
		out = file
	}
	lines := newLossyWriter(out)
	defer lines.close()
	rewrite := &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if err, ok := a.Value.Any().(error); ok {
			a.Value = slog.StringValue(fieldOptions.Replace(err.Error()))
		}
		return a
	}}
	log := slog.New(logformat.New(lines, o.logFormat, rewrite))

	creds, err := o.credentials()
	if err != nil {
		return 0, err
	}
	cfg := o.limits()
	cfg.StateFile, cfg.FaultDir, cfg.Version, cfg.Log = o.state, o.faultDir, version(), log
	cfg.LostAfter, cfg.ReplaceTimeout, cfg.Grace, cfg.JournalTimeout = o.lostAfter, o.replace, o.grace, o.journal
	cfg.Credentials, cfg.Allow = creds, o.allow
	s, err := server.NewServer(cfg)
	if err != nil {
		return 0, err
	}
	wrotePID := false
	defer func() { // after the journal is closed: a script that waits for this may start another server with the journal
		if wrotePID {
			removePID(o.pidFile, log)
		}
	}()
	defer func() { err = errors.Join(err, s.Close()) }()
	l, err := listen(o)
	if err != nil {
		return 0, err
	}
	shown, err := o.web.start(o.guard, s, stderr, log)
	if err != nil {
		return 0, errors.Join(err, l.Close())
	}
	defer func() { err = errors.Join(err, shown.Close()) }()
	if o.pidFile != "" {
		if err := writePID(o.pidFile); err != nil {
			return 0, errors.Join(err, l.Close())
		}
		wrotePID = true
	}
	stop := make(chan os.Signal, 4)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(stop)
	background.IgnoreBrokenPipes()

	served := make(chan error, 1)
	go func() { served <- s.Serve(context.Background(), l) }()
	port := l.Addr().(*net.TCPAddr).Port
	if o.port == 0 {
		fmt.Fprintln(stdout, port)
	}
	ready(port, file)
	code = watch(s, stop, served, log)
	if code != 0 {
		err = s.Close() // makes Serve return
	}
	return code, errors.Join(err, <-served)
}

// watch waits for signals and for the end of the server, and returns the exit code. It puts
// the value of served back for the caller.
func watch(s *server.Server, stop <-chan os.Signal, served chan error, log *slog.Logger) int {
	draining := false
	for {
		select {
		case err := <-served:
			served <- err
			return 0
		case sig := <-stop:
			switch {
			case sig == os.Interrupt:
				log.Info("SIGINT: stopping at once")
				return exitINT
			case draining:
				log.Warn("second SIGTERM: stopping at once")
				return exitTERM
			}
			draining = true
			log.Info("SIGTERM: stopping after the running jobs; a second SIGTERM stops at once")
			s.Drain()
		}
	}
}

// listen opens the TCP port. Brackets around an IPv6 address of --bind are optional.
func listen(o options) (net.Listener, error) {
	addr := net.JoinHostPort(strings.Trim(o.bind, "[]"), strconv.Itoa(int(o.port)))
	l, err := net.Listen("tcp", addr)
	if err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			return nil, fmt.Errorf("cannot listen on %s: the port is in use, probably by another server; choose another with --port", addr)
		}
		return nil, fmt.Errorf("cannot listen on %s: %w", addr, err)
	}
	return l, nil
}

// writePID writes the ID of this process to the pid file. In the background it is the child's.
func writePID(path string) error {
	err := writeFile(path, fmt.Appendln(nil, os.Getpid()))
	if err != nil {
		return fmt.Errorf("cannot write the pid file %s: %w%s", path, err, createDir(path, err))
	}
	return nil
}

// createDir returns a remedy if err reports a missing directory, else "".
func createDir(path string, err error) string {
	if !errors.Is(err, os.ErrNotExist) {
		return ""
	}
	return fmt.Sprintf("; create the directory %s first", filepath.Dir(path))
}

// writeFile writes a world-readable file by way of a temporary one. It replaces an existing file,
// and it replaces a symbolic link instead of following it.
func writeFile(path string, b []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".pid-*")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// removePID removes the pid file, unless another server has replaced it.
func removePID(path string, log *slog.Logger) {
	b, err := os.ReadFile(path)
	if err == nil && strings.TrimSpace(string(b)) == strconv.Itoa(os.Getpid()) {
		err = os.Remove(path)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		log.Warn("cannot remove the pid file", "error", err)
	}
}
