// SPDX-License-Identifier: Apache-2.0

//go:build !windows

package maltstorm

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce/transport"
)

// proxy carries the connections between the ranks of a job, and disturbs them. A rank opens a connection to it for each
// of its own, and begins with a line: "listen RANK ADDRESS", or "dial RANK ADDRESS".
type proxy struct {
	l    net.Listener
	work sync.WaitGroup

	mu     sync.Mutex
	rng    *rand.Rand
	ranks  map[string]int // by address
	conns  []net.Conn
	parted map[[2]int]int // partitions between two ranks, the lower one first
	bits   map[int]int    // bits to change in what a rank sends
	closed bool
}

// newProxy starts a proxy, which runs until close.
func newProxy(t *testing.T, seed uint64) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{l: l, rng: rand.New(rand.NewPCG(seed, 1)), ranks: map[string]int{}, parted: map[[2]int]int{}, bits: map[int]int{}}
	p.work.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			p.work.Go(func() { p.serve(c) })
		}
	})
	return p
}

func (p *proxy) close() {
	p.l.Close()
	p.mu.Lock()
	p.closed = true
	for _, c := range p.conns {
		c.Close()
	}
	p.mu.Unlock()
	p.work.Wait()
}

// keep registers a connection to be closed with the proxy.
func (p *proxy) keep(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns = append(p.conns, c); p.closed {
		c.Close()
	}
}

// serve carries one connection.
func (p *proxy) serve(near net.Conn) {
	defer near.Close()
	p.keep(near)
	r := bufio.NewReader(near)
	var verb, address string
	var from int
	if line, err := r.ReadString('\n'); err != nil {
		return
	} else if _, err := fmt.Sscan(line, &verb, &from, &address); err != nil {
		return
	}
	p.mu.Lock()
	to, known := p.ranks[address]
	if verb == "listen" {
		p.ranks[address] = from
	}
	p.mu.Unlock()
	if verb == "listen" {
		_, _ = io.WriteString(near, "\n") // the rank waits for it, or has ended
		return
	}
	far, err := net.Dial("tcp", address)
	if err != nil || !known {
		return
	}
	defer far.Close()
	p.keep(far)
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.carry(far, r, from, to)
		far.Close()
	}()
	p.carry(near, far, to, from)
	near.Close()
	<-done
}

// carry copies the bytes that a rank sends to another one, until the connection ends. A partition keeps back the end, too.
func (p *proxy) carry(dst io.Writer, src io.Reader, from, to int) {
	buf := make([]byte, 32<<10)
	for {
		n, err := src.Read(buf)
		for p.isParted(from, to) {
			time.Sleep(10 * time.Millisecond)
		}
		p.damage(from, buf[:n])
		if _, werr := dst.Write(buf[:n]); err != nil || werr != nil {
			return
		}
	}
}

func (p *proxy) isParted(a, b int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.closed && p.parted[[2]int{min(a, b), max(a, b)}] > 0
}

// part keeps back what two ranks send to each other until ctx ends or a time has passed.
func (p *proxy) part(ctx context.Context, a, b int, lasts time.Duration) {
	ends := [2]int{min(a, b), max(a, b)}
	add := func(n int) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.parted[ends] += n
	}
	add(1)
	defer add(-1)
	select {
	case <-time.After(lasts):
	case <-ctx.Done():
	}
}

// garble changes some bits of what a rank sends from now on.
func (p *proxy) garble(rank, bits int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bits[rank] += bits
}

// damage changes a bit in about one of five pieces.
func (p *proxy) damage(from int, b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bits[from] > 0 && len(b) > 0 && p.rng.IntN(5) == 0 {
		p.bits[from]--
		b[p.rng.IntN(len(b))] ^= 1 << p.rng.IntN(8)
	}
}

// proxied is the network of a rank whose connections to other ranks go through a proxy.
type proxied struct {
	transport.Network
	rank          int
	server, proxy string // addresses
}

// say opens a connection to the proxy, and sends its first line.
func (n proxied) say(ctx context.Context, verb, address string) (net.Conn, error) {
	c, err := n.Network.Dial(ctx, n.proxy)
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintln(c, verb, n.rank, address); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Listen listens, and registers the address at the proxy.
func (n proxied) Listen(ctx context.Context, addr string) (net.Listener, error) {
	l, err := n.Network.Listen(ctx, addr)
	if err != nil {
		return nil, err
	}
	c, err := n.say(ctx, "listen", l.Addr().String())
	if err == nil {
		_, err = c.Read(make([]byte, 1))
		c.Close()
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// Dial connects to the server, or through the proxy to a rank.
func (n proxied) Dial(ctx context.Context, addr string) (net.Conn, error) {
	if addr == n.server {
		return n.Network.Dial(ctx, addr)
	}
	return n.say(ctx, "dial", addr)
}
