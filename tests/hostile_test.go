// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// mischief is the behaviour of a hostile client on a connection, until the connection ends or
// stop is closed.
type mischief struct {
	name string
	do   func(c net.Conn, stop <-chan struct{})
}

// hello is the first frame of the native protocol.
var hello = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64([]byte("\x89gvw\r\n\x1a\n"), 1), 1)

var mischiefs = []mischief{
	{"idle", func(net.Conn, <-chan struct{}) {}},
	{"slow", func(c net.Conn, stop <-chan struct{}) {
		for _, b := range hello {
			if _, err := c.Write([]byte{b}); err != nil || wait(stop, 700*time.Millisecond) {
				return
			}
		}
	}},
	{"garbage", say(bytes.Repeat([]byte("garbage "), 100))},
	{"half a registration", say(hello[:11])},
	{"half a frame", say(append(bytes.Clone(hello), 40, 0, 0))},
	{"a huge length", say(append(bytes.Clone(hello), 255, 255, 255, 255, 1, 4, 0, 0))},
	{"half a JOIN", say(append(bytes.Clone(hello), 0, 64, 0, 0, 1, 4, 0, 0, 1, 2, 3))},
	{"a wrong proof", say(append(append(bytes.Clone(hello), 68, 0, 0, 0, 13, 4, 0, 0), make([]byte, 64)...))},
	{"the beginning of TLS", say(append([]byte{22, 3, 1, 2, 0}, make([]byte, 100)...))},
	{"a vw worker of a huge job", say(registration(1, 1<<40, 0))},
	{"a vw worker of rank 0, again", say(registration(99, 1000, 0))},
}

// say returns a mischief that sends bytes.
func say(b []byte) func(net.Conn, <-chan struct{}) {
	return func(c net.Conn, _ <-chan struct{}) { _, _ = c.Write(b) } // the server may close the connection
}

func registration(numbers ...uint64) (b []byte) {
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return b
}

// wait waits for a time and reports whether stop was closed.
func wait(stop <-chan struct{}, d time.Duration) bool {
	select {
	case <-stop:
		return true
	case <-time.After(d):
		return false
	}
}

// mob is a group of attackers: hostile clients, each with its own address. A client that the server
// disconnects connects again after a pause.
type mob struct {
	here, came atomic.Int64
	stop       chan struct{}
	work       sync.WaitGroup
}

func gather(t *testing.T, addr string, n int) *mob {
	t.Helper()
	m := &mob{stop: make(chan struct{})}
	for i := range n {
		kind := mischiefs[0] // half of the clients are idle
		if i%2 == 1 {
			kind = mischiefs[i/2%len(mischiefs)]
		}
		from := net.IPv4(127, byte(1+i>>14), byte(i>>7&127), byte(1+i&127))
		m.work.Go(func() {
			// Spread the connections: the system's listen backlog is short.
			for pause := time.Duration(i) * 200 * time.Microsecond; !wait(m.stop, pause); pause = 5 * time.Second {
				m.once(addr, from, kind)
			}
		})
	}
	t.Cleanup(m.disperse)
	return m
}

func (m *mob) once(addr string, from net.IP, kind mischief) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: from}, Timeout: 20 * time.Second}
	c, err := d.Dial("tcp", addr)
	if err != nil {
		return
	}
	m.here.Add(1)
	m.came.Add(1)
	defer m.here.Add(-1)
	defer c.Close()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = io.Copy(io.Discard, c)
	}()
	kind.do(c, m.stop)
	select {
	case <-gone:
	case <-m.stop:
		c.Close()
		<-gone
	}
}

// disperse ends the attack.
func (m *mob) disperse() {
	select {
	case <-m.stop:
	default:
		close(m.stop)
	}
	m.work.Wait()
}

// vitals are the resources of a process.
type vitals struct{ descriptors, threads, rss, peak int }

func vitalsOf(t *testing.T, pid int) (v vitals) {
	t.Helper()
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	v.descriptors = len(fds)
	for line := range strings.Lines(readFile(t, fmt.Sprintf("/proc/%d/status", pid))) {
		name, rest, _ := strings.Cut(line, ":")
		to := map[string]*int{"Threads": &v.threads, "VmRSS": &v.rss, "VmHWM": &v.peak}[name]
		if to == nil {
			continue
		}
		if *to, err = strconv.Atoi(strings.Fields(rest)[0]); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

// openFiles returns the limit of open files of a process: Go's programs raise the soft limit to
// the hard one.
func openFiles(t *testing.T) int {
	t.Helper()
	for line := range strings.Lines(readFile(t, "/proc/self/limits")) {
		if rest, found := strings.CutPrefix(line, "Max open files"); found {
			fields := strings.Fields(rest)
			if fields[1] == "unlimited" {
				return math.MaxInt
			}
			n, err := strconv.Atoi(fields[1])
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatal("/proc/self/limits has no line about open files")
	return 0
}

// TestHostileConnections: with hostile connections at the server's port a job of eight ranks
// starts in time, the server stays small, and afterwards it releases all their resources.
func TestHostileConnections(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc, and a loopback with many addresses")
	}
	if have, need := openFiles(t), hostiles*8/5+500; have < need {
		t.Skipf("needs %d open files, the limit is %d: ulimit -n", need, have)
	}
	k := newKeyring(t)
	secret, err := auth.ReadSecret(filepath.Join(k.dir, "secret"))
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(k.dir, "keys", name) }
	tls, err := auth.ReadTLS(in("rank.crt"), in("rank.key"), in("ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		server []string
		creds  *auth.Credentials
	}{
		{"nothing", nil, nil},
		{"secret", k.secret(), &auth.Credentials{Secret: secret}},
		{"TLS", k.tls("server"), &auth.Credentials{TLS: tls}},
	} {
		t.Run(c.name, func(t *testing.T) { testHostile(t, c.server, c.creds) })
	}
}

func testHostile(t *testing.T, server []string, creds *auth.Credentials) {
	port, pid := startServerPID(t, server...)
	addr := "127.0.0.1:" + port
	wire(t, addr, creds) // a first job, so that all lazy allocations are done
	before := vitalsOf(t, pid)
	// Two of three stay until they are disconnected for being slow; the others close at once
	// and connect again.
	crowd := gather(t, addr, hostiles*8/5)
	deadline := time.Now().Add(3 * time.Minute)
	for int(crowd.here.Load()) < hostiles {
		if time.Now().After(deadline) {
			t.Fatalf("%d hostile connections of %d came about", crowd.here.Load(), hostiles)
		}
		time.Sleep(10 * time.Millisecond)
	}
	took, most := time.Duration(0), int64(0)
	for range 5 {
		most = max(most, crowd.here.Load())
		took = max(took, wire(t, addr, creds))
	}
	during := vitalsOf(t, pid)
	t.Logf("%d hostile connections at once, %d in all: eight ranks wired in at most %v; the server: %+v (before: %+v)",
		most, crowd.came.Load(), took.Round(time.Millisecond), during, before)
	crowd.disperse()
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		after := vitalsOf(t, pid)
		if after.descriptors <= before.descriptors {
			if after.peak > 128<<10 {
				t.Errorf("the server took %d KiB, want less than 128 MiB", after.peak)
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("afterwards: %+v, before: %+v", after, before)
		}
	}
}

// wire starts a job of eight ranks, ends it, and returns how long it took to start.
func wire(t *testing.T, addr string, creds *auth.Credentials) time.Duration {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	const n = 8
	groups, errs := make([]*allreduce.Group, n), make([]error, n)
	each := func(f func(rank int) error) {
		var ranks sync.WaitGroup
		for rank := range n {
			ranks.Go(func() { errs[rank] = f(rank) })
		}
		ranks.Wait()
		for rank, err := range errs {
			if err != nil {
				t.Fatalf("rank %d: %v", rank, err)
			}
		}
	}
	began := time.Now()
	each(func(rank int) (err error) {
		groups[rank], err = allreduce.Join(ctx, allreduce.Config{
			Server: addr, Job: protocol.Job{UniqueID: 7}, Rank: rank, Total: n, Listen: "127.0.0.1:0", NoSharedMemory: true, Credentials: creds,
		})
		if err != nil {
			return err
		}
		t.Cleanup(func() { _ = groups[rank].Close() })
		return groups[rank].Ready(ctx, protocol.Shard{})
	})
	took := time.Since(began)
	each(func(rank int) error {
		v := []float32{1}
		if err := groups[rank].AllReduce(ctx, allreduce.Vec(v), allreduce.Sum); err != nil {
			return err
		}
		if v[0] != n {
			return fmt.Errorf("the sum is %v, want %d", v[0], n)
		}
		return groups[rank].Finish(ctx, [32]byte{1}, nil, nil)
	})
	each(func(rank int) error { return groups[rank].Close() })
	return took
}
