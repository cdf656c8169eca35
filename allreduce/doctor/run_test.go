// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/allreduce/transport/mem"
	"github.com/gvw-project/gvw/internal/spantree/server"
)

// walled is a network in which some hosts are unreachable.
type walled struct {
	transport.Network
	off []string
}

func (w walled) Dial(ctx context.Context, addr string) (net.Conn, error) {
	for _, host := range w.off {
		if strings.HasPrefix(addr, host+":") {
			return nil, errors.New("no route to host")
		}
	}
	c, err := w.Network.Dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	return late{c}, nil
}

// late is a connection whose writes take 1 ms, so that a path has a round trip and a rate.
type late struct{ net.Conn }

func (l late) Write(b []byte) (int, error) {
	time.Sleep(time.Millisecond)
	return l.Conn.Write(b)
}

// examined runs an examination of n ranks in a bubble, where no load of the machine delays an
// answer; walls lists the hosts that a rank cannot reach.
func examined(t *testing.T, n int, walls map[int][]string, alter func(rank int, c *Config)) (reports []*Report, errs []error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { reports, errs = examine(t, n, walls, alter) })
	return reports, errs
}

func examine(t *testing.T, n int, walls map[int][]string, alter func(rank int, c *Config)) ([]*Report, []error) {
	t.Helper()
	network := mem.New()
	l, err := network.Host("server").Listen(t.Context(), "server:26543")
	if err != nil {
		t.Fatal(err)
	}
	server, err := server.NewServer(server.ServerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	var serving, ranks sync.WaitGroup
	serving.Go(func() { _ = server.Serve(context.Background(), l) })
	defer serving.Wait()
	defer server.Close()
	reports, errs := make([]*Report, n), make([]error, n)
	for rank := range n {
		ranks.Go(func() {
			c := Config{
				Server: "server:26543", Rank: rank, Total: n, Patience: time.Second, Long: time.Millisecond,
				Network: walled{network.Host(fmt.Sprintf("h%d", rank)), walls[rank]},
			}
			if alter != nil {
				alter(rank, &c)
			}
			reports[rank], errs[rank] = Run(t.Context(), c)
		})
	}
	ranks.Wait()
	return reports, errs
}

func TestAllRanksHaveTheSameReport(t *testing.T) {
	for _, n := range []int{2, 3, 5} {
		reports, errs := examined(t, n, nil, nil)
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		for rank, r := range reports {
			for _, w := range r.Ways {
				if w.Fault != "" || w.Latency <= 0 || w.Rate <= 0 {
					t.Errorf("%d ranks: way %+v", n, w)
				}
			}
			r.Rank = 0
			if d := cmp.Diff(reports[0], r); d != "" || len(r.Ways) != n*(n-1) {
				t.Errorf("%d ranks, %d ways: rank %d, -of rank 0 +of it:\n%s", n, len(r.Ways), rank, d)
			}
		}
	}
}

// A path that does not exist is reported, and all others are measured: rank 0 uses the
// direction that exists.
func TestUnreachableHostsAreReported(t *testing.T) {
	for _, c := range []struct {
		walls map[int][]string
		want  []string
	}{
		{map[int][]string{1: {"h2"}}, []string{"rank 1 does not reach rank 2 (no route to host)"}},
		{map[int][]string{0: {"h1"}}, []string{"rank 0 does not reach rank 1"}},
		{map[int][]string{2: {"h0"}}, []string{"rank 2 does not reach rank 0"}},
		{map[int][]string{1: {"h0", "h2"}, 2: {"h0"}}, []string{"no rank reaches rank 0 (from rank 1: no route to host)", "rank 1 does not reach rank 2"}},
	} {
		reports, errs := examined(t, 3, c.walls, nil)
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		for rank, r := range reports {
			faults := r.Faults()
			if len(faults) != len(c.want) || len(r.Ways) != 6 {
				t.Fatalf("%v: rank %d: got %q, want %q", c.walls, rank, faults, c.want)
			}
			for i, want := range c.want {
				if !strings.Contains(faults[i], want) {
					t.Errorf("%v: rank %d: got %q, want %q", c.walls, rank, faults[i], want)
				}
			}
		}
	}
}

// A rank without a connection to rank 0 reports its own findings.
func TestASilentRankReportsItsFindings(t *testing.T) {
	reports, errs := examined(t, 3, map[int][]string{0: {"h2"}, 2: {"h0"}}, nil)
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if got := reports[0].Silent; len(got) != 1 || got[0] != 2 {
		t.Errorf("silent ranks: %v", got)
	}
	if w := reports[0].way(1, 2); w == nil || w.Fault != "" {
		t.Errorf("the path to it from rank 1 is %+v", w)
	}
	text := strings.Join(reports[2].Faults(), "\n")
	if !strings.Contains(text, "rank 0 and rank 2 have no connection") || !strings.Contains(text, "rank 2 does not reach rank 0 (no route to host)") || len(reports[2].Ways) != 2 {
		t.Errorf("got %s, %+v", text, reports[2])
	}
}

func TestMissingRanksAreNamed(t *testing.T) {
	_, errs := examined(t, 2, nil, func(rank int, c *Config) {
		c.Total, c.StartTimeout = 3, 100*time.Millisecond
	})
	for rank, err := range errs {
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("doctor: rank %d", rank)) {
			t.Errorf("got %v", err)
		}
	}
	if text := errors.Join(errs...).Error(); !strings.Contains(text, "missing ranks 2") && !strings.Contains(text, "missing rank 2") {
		t.Errorf("got %s", text)
	}
}

func TestValidateReportsAllFaults(t *testing.T) {
	err := Config{Server: "h", Total: 1, Rank: 3, Listen: "x", Advertise: "10/8", Patience: -1, Long: -1, StartTimeout: -1, DialTimeout: -1}.Validate()
	for _, word := range []string{"Server", "Total", "Rank", "Listen", "Advertise", "Patience", "Long", "StartTimeout", "DialTimeout"} {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s is not in %v", word, err)
		}
	}
	if _, err := Run(context.Background(), Config{}); err == nil {
		t.Error("an invalid Config is accepted")
	}
}

// A path that loses long messages is distinguished from a broken connection.
func TestLongMessagesThatAreLost(t *testing.T) { synctest.Test(t, longMessagesThatAreLost) }

func longMessagesThatAreLost(t *testing.T) {
	here, there := net.Pipe()
	defer here.Close()
	var peer sync.WaitGroup
	peer.Go(func() {
		var b [1]byte
		for range pings {
			_, _ = io.ReadFull(there, b[:])
			time.Sleep(time.Millisecond)
			_, _ = there.Write(make([]byte, 8))
		}
	})
	w := Way{From: 0, To: 1}
	measure(here, &w, time.Millisecond, 50*time.Millisecond)
	peer.Wait()
	if !strings.Contains(w.Fault, "small messages pass") || !strings.Contains(w.Fault, "256 KiB did not pass within 50ms") || w.Latency <= 0 {
		t.Errorf("got %+v", w)
	}
	there.Close()
	w = Way{}
	if measure(here, &w, time.Millisecond, 50*time.Millisecond); !strings.Contains(w.Fault, "a ping failed") {
		t.Errorf("got %+v", w)
	}
}

func TestServeRejectsUnknownProbes(t *testing.T) {
	here, there := net.Pipe()
	defer here.Close()
	go here.Write([]byte{'?'})
	if err := serve(there); err == nil || !strings.Contains(err.Error(), "unknown type of probe 63") {
		t.Errorf("got %v", err)
	}
}

// FuzzMessage checks that a decoded message is within bounds.
func FuzzMessage(f *testing.F) {
	for _, s := range []string{`{"Ways":[{"From":0,"To":1}]}`, `{"Report":{"Ranks":[{},{}],"Ways":[{"From":1,"To":7}]}}`, `{"To":-1}`, `{`, ``} {
		f.Add(append(binary.LittleEndian.AppendUint32(nil, uint32(len(s))), s...))
	}
	f.Add([]byte{255, 255, 255, 255, '{'})
	f.Fuzz(func(t *testing.T, b []byte) {
		const total = 2
		m, err := decode(bytes.NewReader(b), total)
		if err != nil {
			return
		}
		if m.Report != nil {
			m.Report.Faults()
			m.Report.Table()
		}
	})
}
