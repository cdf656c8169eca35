// SPDX-License-Identifier: Apache-2.0

//go:build linux

package tests

import (
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// relays are proxies between the ranks: each rank advertises the address of its relay, which
// forwards bytes in both directions with a delay. This simulates distant ranks where the kernel
// cannot delay packets.
type relays struct {
	t     *testing.T
	delay time.Duration
	bytes atomic.Int64
	work  sync.WaitGroup

	mu    sync.Mutex
	conns []net.Conn
}

const relayPort = 30000

// relayIP returns the address of a rank's relay, on the bridge.
func relayIP(rank int) string { return fmt.Sprintf("10.80.0.%d", 100+rank) }

func modelOf(rank int) string { return fmt.Sprintf("model.%d", rank) }

func newRelays(t *testing.T, n int, delay time.Duration) *relays {
	t.Helper()
	r := &relays{t: t, delay: delay}
	for rank := range n {
		sh(t, "ip addr add "+relayIP(rank)+"/24 dev bridge")
		l, err := net.Listen("tcp", fmt.Sprintf("%s:%d", relayIP(rank), relayPort))
		if err != nil {
			t.Fatal(err)
		}
		r.work.Go(func() { r.serve(l, fmt.Sprintf("%s:%d", hostIP(rank), relayPort)) })
		t.Cleanup(func() { l.Close() })
	}
	t.Cleanup(func() { // before the listeners are closed: cleanups run in reverse order
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, c := range r.conns {
			c.Close()
		}
	})
	return r
}

// options makes a rank listen behind its relay.
func (r *relays) options(rank int) []string {
	return []string{"--advertise", relayIP(rank), "--port_range", fmt.Sprintf("%d-%d", relayPort, relayPort)}
}

// carried returns the number of forwarded bytes.
func (r *relays) carried() int64 { return r.bytes.Load() }

func (r *relays) serve(l net.Listener, to string) {
	for {
		from, err := l.Accept()
		if err != nil {
			return // the test is over
		}
		there, err := net.DialTimeout("tcp", to, 5*time.Second)
		if err != nil {
			from.Close()
			continue
		}
		r.mu.Lock()
		r.conns = append(r.conns, from, there)
		r.mu.Unlock()
		r.work.Go(func() { r.pump(there, from) })
		r.work.Go(func() { r.pump(from, there) })
	}
}

// parcel is a piece of data in transit.
type parcel struct {
	b   []byte
	due time.Time
}

// pump forwards bytes until one end is closed.
func (r *relays) pump(dst, src net.Conn) {
	under := make(chan parcel, 1024)
	r.work.Go(func() {
		defer dst.Close()
		for p := range under {
			time.Sleep(time.Until(p.due))
			n, err := dst.Write(p.b)
			r.bytes.Add(int64(n))
			if err != nil {
				src.Close()
			}
		}
	})
	defer close(under)
	for {
		b := make([]byte, 64<<10)
		n, err := src.Read(b)
		if n > 0 {
			under <- parcel{b[:n], time.Now().Add(r.delay)}
		}
		if err != nil {
			return
		}
	}
}
