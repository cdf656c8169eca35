// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// ownGroup makes a process group, so that a signal reaches a server and its children.
var ownGroup = &syscall.SysProcAttr{Setpgid: true}

// stop ends a server and waits for it.
func (s *server) stop() {
	_ = syscall.Kill(-s.command.Process.Pid, syscall.SIGTERM)
	_ = s.command.Wait() // it ends by the signal
}

// clientTimeout limits one measurement.
const clientTimeout = 2 * time.Minute

// load sends lines by several clients at once, and returns the answers a second.
func (b *bench) load(ctx context.Context, s *server, clients int, turns bool) (float64, error) {
	lines := b.lines
	if turns {
		lines = lines[:len(lines)/5]
	}
	each := len(lines) / clients
	conns := make([]net.Conn, clients)
	var d net.Dialer
	for i := range conns {
		c, err := d.DialContext(ctx, "tcp", s.address)
		if err != nil {
			return 0, err
		}
		defer c.Close()
		if err := c.SetDeadline(time.Now().Add(clientTimeout)); err != nil {
			return 0, err
		}
		conns[i] = c
	}
	client := pipeline
	if turns {
		client = inTurns
	}
	errs := make([]error, clients)
	var all sync.WaitGroup
	began := time.Now()
	for i, c := range conns {
		all.Go(func() { errs[i] = client(c, lines[i*each:(i+1)*each]) })
	}
	all.Wait()
	return float64(each*clients) / time.Since(began).Seconds(), errors.Join(errs...)
}

// inTurns reads the answer to each line before it sends the next one.
func inTurns(c net.Conn, lines [][]byte) error {
	r := bufio.NewReader(c)
	for _, line := range lines {
		if _, err := c.Write(line); err != nil {
			return err
		}
		if _, err := r.ReadSlice('\n'); err != nil {
			return err
		}
	}
	return nil
}

// pipeline sends all lines while it reads the answers.
func pipeline(c net.Conn, lines [][]byte) error {
	sent := make(chan error, 1)
	go func() {
		w := bufio.NewWriterSize(c, 64<<10)
		for _, line := range lines {
			if _, err := w.Write(line); err != nil {
				sent <- err
				return
			}
		}
		sent <- w.Flush()
	}()
	buf := make([]byte, 64<<10)
	answers := 0
	var err error
	for answers < len(lines) && err == nil {
		var n int
		n, err = c.Read(buf)
		answers += bytes.Count(buf[:n], []byte("\n"))
	}
	if err != nil {
		_ = c.Close() // the writer ends
		err = fmt.Errorf("%d of %d answers: %w", answers, len(lines), err)
	}
	return errors.Join(err, <-sent)
}

// measureIdle opens connections that send nothing, and prints what the server's memory grows by.
func (b *bench) measureIdle(ctx context.Context, s *server) error {
	before, err := resident(s.command.Process.Pid)
	if err != nil {
		return err
	}
	var d net.Dialer
	for i := range b.idle {
		c, err := d.DialContext(ctx, "tcp", s.address)
		if err != nil {
			return fmt.Errorf("connection %d: %w", i+1, err)
		}
		defer c.Close()
	}
	last, err := d.DialContext(ctx, "tcp", s.address)
	if err != nil {
		return err
	}
	defer last.Close()
	if err := last.SetDeadline(time.Now().Add(clientTimeout)); err != nil {
		return err
	}
	if err := inTurns(last, b.lines[:1]); err != nil { // it is answered after all others have been accepted
		return err
	}
	after, err := resident(s.command.Process.Pid)
	if err != nil {
		return err
	}
	fmt.Printf("\n%d idle connections: %s's resident memory from %.1f to %.1f MiB\n", b.idle, s.name, mib(before), mib(after))
	return nil
}

func mib(bytes uint64) float64 { return float64(bytes) / (1 << 20) }

// resident returns the resident memory of a process, in bytes.
func resident(pid int) (uint64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if text, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "kB")), 10, 64)
			return kb << 10, err
		}
	}
	return 0, errors.New("no VmRSS in the status of the process")
}
