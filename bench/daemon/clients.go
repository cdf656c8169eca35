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
	"sync"
	"time"

	"github.com/gvw-project/gvw/bench/internal/target"
)

// clientTimeout limits one measurement.
const clientTimeout = 2 * time.Minute

// load sends lines by several clients at once, and measures the answers.
func (b *bench) load(ctx context.Context, s *target.Server, clients int, turns bool) (sample, error) {
	lines := b.lines
	if turns {
		lines = lines[:len(lines)/5]
	}
	each := len(lines) / clients
	conns := make([]net.Conn, clients)
	texts := make([][]byte, clients)
	var d net.Dialer
	for i := range conns {
		c, err := d.DialContext(ctx, "tcp", s.Address)
		if err != nil {
			return sample{}, err
		}
		defer c.Close()
		if err := c.SetDeadline(time.Now().Add(clientTimeout)); err != nil {
			return sample{}, err
		}
		conns[i] = c
		if !turns {
			texts[i] = bytes.Join(lines[i*each:(i+1)*each], nil)
		}
	}
	before, err := s.Usage()
	if err != nil {
		return sample{}, err
	}
	errs := make([]error, clients)
	var all sync.WaitGroup
	began := time.Now()
	for i, c := range conns {
		all.Go(func() {
			if turns {
				errs[i] = inTurns(c, lines[i*each:(i+1)*each])
			} else {
				errs[i] = pipeline(c, texts[i], each)
			}
		})
	}
	all.Wait()
	took := time.Since(began)
	after, err := s.Usage()
	if err = errors.Join(append(errs, err)...); err != nil {
		return sample{}, err
	}
	n := float64(each * clients)
	if !turns {
		n *= pipelined
	}
	return sample{rate: n / took.Seconds(), cpu: float64((after.CPU - before.CPU).Microseconds()) / n}, nil
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

// pipelined is the number of times that pipeline sends its lines, so that a measurement takes long enough.
const pipelined = 3

// pipeline sends lines while it reads the answers.
func pipeline(c net.Conn, text []byte, lines int) error {
	sent := make(chan error, 1)
	go func() {
		var err error
		for i := 0; i < pipelined && err == nil; i++ {
			_, err = c.Write(text)
		}
		sent <- err
	}()
	buf := make([]byte, 64<<10)
	answers := 0
	var err error
	for lines *= pipelined; answers < lines && err == nil; {
		var n int
		n, err = c.Read(buf)
		answers += bytes.Count(buf[:n], []byte("\n"))
	}
	if err != nil {
		_ = c.Close() // the writer ends
		err = fmt.Errorf("%d of %d answers: %w", answers, lines, err)
	}
	return errors.Join(err, <-sent)
}

// measureIdle opens connections that send nothing, and prints what the server's memory grows by.
func (b *bench) measureIdle(ctx context.Context, s *target.Server) error {
	before, err := s.Usage()
	if err != nil {
		return err
	}
	var d net.Dialer
	for i := range b.idle {
		c, err := d.DialContext(ctx, "tcp", s.Address)
		if err != nil {
			return fmt.Errorf("connection %d: %w", i+1, err)
		}
		defer c.Close()
	}
	last, err := d.DialContext(ctx, "tcp", s.Address)
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
	after, err := s.Usage()
	if err != nil {
		return err
	}
	fmt.Printf("\n%d idle connections: %s's resident memory from %.1f to %.1f MiB\n", b.idle, s.Name, mib(before.Resident), mib(after.Resident))
	return nil
}

func mib(bytes uint64) float64 { return float64(bytes) / (1 << 20) }
