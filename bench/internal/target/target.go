// SPDX-License-Identifier: Apache-2.0

//go:build linux

package target

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// Lines draws examples in vw's text format, the same for each call.
func Lines(n, features int) [][]byte {
	rng := rand.New(rand.NewPCG(1, 1))
	var data bytes.Buffer
	for range n {
		fmt.Fprintf(&data, "%d |a", 2*rng.IntN(2)-1)
		for range features {
			fmt.Fprintf(&data, " w%d:%.2f", rng.IntN(50_000), rng.Float64())
		}
		data.WriteByte('\n')
	}
	return slices.Collect(bytes.Lines(data.Bytes()))
}

// Train trains a model in dir, and returns its file.
func Train(ctx context.Context, gvw, dir string, lines [][]byte) (string, error) {
	data, model := filepath.Join(dir, "data"), filepath.Join(dir, "model")
	if err := os.WriteFile(data, bytes.Join(lines, nil), 0o600); err != nil {
		return "", err
	}
	if out, err := exec.CommandContext(ctx, gvw, "-d", data, "-f", model, "--quiet").CombinedOutput(); err != nil {
		return "", fmt.Errorf("gvw: %w\n%s", err, out)
	}
	return model, nil
}

// Config configures a server.
type Config struct {
	Name    string
	Command []string // program and arguments, one of which is Port
	Dir     string   // working directory
	Stderr  io.Writer
}

// Port stands for a free port in Config.Command.
const Port = "PORT"

// Server is a server that runs.
type Server struct {
	Name    string
	Address string
	command *exec.Cmd
	ended   chan struct{} // closed when the server has ended
}

// parentEvery is the interval at which Context looks whether the parent has ended.
const parentEvery = time.Second

// Context returns a context that ends when the process is interrupted or terminated, and when its parent ends: go run
// passes no signal on.
func Context() (context.Context, context.CancelFunc) {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	parent := os.Getppid()
	go func() {
		for tick := time.Tick(parentEvery); ; {
			select {
			case <-ctx.Done():
				return
			case <-tick:
			}
			if os.Getppid() != parent {
				cancel()
			}
		}
	}()
	return ctx, cancel
}

// startWithin is the time for a server to listen.
const startWithin = 30 * time.Second

// Start starts a server and waits until it listens. The caller calls Stop.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{Name: cfg.Name, Address: l.Addr().String(), ended: make(chan struct{})}
	_, port, _ := net.SplitHostPort(s.Address)
	if err := l.Close(); err != nil {
		return nil, err
	}
	args := slices.Clone(cfg.Command)
	if i := slices.Index(args, Port); i >= 0 {
		args[i] = port
	}
	s.command = exec.CommandContext(ctx, args[0], args[1:]...)
	s.command.Dir, s.command.Stderr = cfg.Dir, cfg.Stderr
	// vw's children end with it. It ends with this process, however that ends.
	s.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the signal is sent at the end of this thread
		started <- s.command.Start()
		<-s.ended
	}()
	if err := <-started; err != nil {
		close(s.ended)
		return nil, err
	}
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		c, err := net.Dial("tcp", s.Address)
		if err == nil {
			return s, c.Close()
		}
		if time.Since(began) > startWithin {
			s.Stop()
			return nil, fmt.Errorf("%s does not listen on %s after %v: %w", s.Name, s.Address, startWithin, err)
		}
	}
}

// Stop ends a server and waits for it.
func (s *Server) Stop() {
	_ = syscall.Kill(-s.command.Process.Pid, syscall.SIGTERM)
	_ = s.command.Wait() // it ends by the signal
	close(s.ended)
}
