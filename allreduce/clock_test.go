// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/allreduce/transport/mem"
	"github.com/gvw-project/gvw/internal/timeline"
)

// clockJob runs a job whose ranks have the given clocks. It returns the merged timeline, and how well each clock is known.
func clockJob(t *testing.T, cfg Config, server transport.Network, addr string, network func(rank int) transport.Network, clocks []timeline.Clock, run func(j *testJob)) ([]timeline.Span, map[int]timeline.ClockError) {
	t.Helper()
	out := make([]bytes.Buffer, len(clocks))
	j := &testJob{t: t, cfg: cfg, total: len(clocks), groups: make([]*Group, len(clocks))}
	j.server = startServer(t, server, addr)
	defer j.close()
	j.each(func(rank int) (err error) {
		c := cfg
		c.Server, c.Job, c.Rank, c.Total, c.Network = j.server, Job{UniqueID: 7}, rank, j.total, network(rank)
		c.Timeline, c.clock, c.NoSharedMemory = &out[rank], &clocks[rank], true
		j.groups[rank], err = Join(context.Background(), c)
		return err
	})
	j.ready()
	run(j)
	j.each(func(rank int) error { return j.groups[rank].Done(ctx) })
	j.each(func(rank int) error { return j.groups[rank].Close() })
	var all timeline.Clocks
	for rank := range out {
		if err := all.Read(bytes.NewReader(out[rank].Bytes())); err != nil {
			t.Fatal(err)
		}
	}
	var spans []timeline.Span
	for rank := range out {
		more, err := all.Spans(bytes.NewReader(out[rank].Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		spans = append(spans, more...)
	}
	return spans, all.Errors()
}

// slowNetwork delays what an end of a connection reads. A delay of writes would hold a lock, in which the time of a bubble
// stands still.
type slowNetwork struct {
	transport.Network
	delay func(far string) time.Duration
}

func (n slowNetwork) Dial(ctx context.Context, addr string) (net.Conn, error) {
	c, err := n.Network.Dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	return slowConn{c, n.delay(addr)}, nil
}

func (n slowNetwork) Listen(ctx context.Context, addr string) (net.Listener, error) {
	l, err := n.Network.Listen(ctx, addr)
	return &slowListener{l, n}, err
}

type slowListener struct {
	net.Listener
	n slowNetwork
}

func (l *slowListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return slowConn{c, l.n.delay(c.RemoteAddr().String())}, nil
}

type slowConn struct {
	net.Conn
	delay time.Duration
}

func (c slowConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	time.Sleep(c.delay)
	return n, err
}

// Clocks that are wrong, run at different rates and are reached over ways of unequal length in the two directions
// agree on the time of an event within the stated bound.
func TestSkewedClocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := mem.New()
		clocks := make([]timeline.Clock, 3)
		for rank, c := range []timeline.Clock{{}, {Skew: -time.Hour, Rate: 200e-6}, {Skew: 5 * time.Second, Rate: -400e-6}} {
			clocks[rank] = timeline.NewClock("") // now, in the time of the bubble
			clocks[rank].Skew, clocks[rank].Rate = c.Skew, c.Rate
		}
		network := func(rank int) transport.Network {
			return slowNetwork{n.Host(fmt.Sprintf("h%d", rank)), func(far string) time.Duration {
				if strings.HasPrefix(far, "server") {
					return time.Duration(4*rank) * time.Millisecond
				}
				return 0
			}}
		}
		server := slowNetwork{n.Host("server"), func(far string) time.Duration {
			var rank int
			if _, err := fmt.Sscanf(far, "h%d", &rank); err != nil {
				t.Errorf("a connection from %s, want one of a rank", far)
			}
			return time.Duration(rank) * time.Millisecond
		}}
		var marks []time.Time
		spans, errs := clockJob(t, Config{}, server, "server:26543", network, clocks, func(j *testJob) {
			for i := range 60 {
				time.Sleep(time.Duration(i) * 1370 * time.Millisecond)
				at := time.Now()
				for _, g := range j.groups {
					g.timeline.SpanTo(timeline.Steps, fmt.Sprint("mark ", i), at.Add(-time.Second), at, 0)
				}
				marks = append(marks, at.Add(-time.Second))
			}
		})
		seen := 0
		for _, s := range spans {
			var i int
			if _, err := fmt.Sscanf(s.Name, "mark %d", &i); err != nil {
				continue
			}
			seen++
			e := errs[s.Rank]
			if off := math.Abs(float64(s.Began - marks[i].UnixMicro())); off > e.Bound {
				t.Errorf("rank %d: %s is %g µs off, the stated bound is %g", s.Rank, s.Name, off, e.Bound)
			}
		}
		for rank, e := range errs {
			// A frame is several reads, and they queue. The clocks may drift for a second.
			if limit := 20e3*float64(rank) + 1500; !e.Aligned || e.Bound > limit {
				t.Errorf("rank %d: %+v, want a bound of at most %g µs", rank, e, limit)
			}
		}
		if seen != 3*len(marks) {
			t.Errorf("got %d marks, want %d", seen, 3*len(marks))
		}
	})
}

// In a real job one rank's clock is wrong by seconds, although it claims to be that of the machine. The merged timeline has
// the rank at the right place: an all-reduce ends on no rank before it has begun on all.
func TestAJobWithASkewedClock(t *testing.T) {
	clocks := []timeline.Clock{timeline.NewClock("m"), timeline.NewClock("m"), timeline.NewClock("m")}
	clocks[1].Skew, clocks[1].Rate = 3*time.Second, 100e-6
	spans, errs := clockJob(t, Config{Listen: "127.0.0.1:0"}, transport.TCP, "127.0.0.1:0", func(int) transport.Network { return transport.TCP }, clocks, func(j *testJob) {
		for i := range 20 {
			j.each(func(rank int) error {
				return j.groups[rank].AllReduce(ctx, Vec(make([]float32, 1<<10)).Named(fmt.Sprint("v", i)), Sum)
			})
		}
	})
	for i := range 20 {
		begun, ended, calls := int64(math.MinInt64), int64(math.MaxInt64), 0
		var bound float64
		for _, s := range spans {
			if s.Row == timeline.Collectives && s.Name == fmt.Sprint("all-reduce v", i) {
				begun, ended, calls = max(begun, s.Began), min(ended, s.Began+s.Took), calls+1
				bound = max(bound, errs[s.Rank].Bound)
			}
		}
		if calls != 3 || float64(begun-ended) > 2*bound {
			t.Errorf("all-reduce %d: %d calls, the last begins %d µs after the first has ended; bound %g µs", i, calls, begun-ended, bound)
		}
	}
	for rank, e := range errs {
		// The bound is that of a loopback on a machine that may be busy; 3 s are far outside.
		if want := -3e6 * float64(rank%2); !e.Aligned || e.Exchanges == 0 || math.Abs(e.Offset-want) > e.Bound+1000 || e.Bound > 1e6 {
			t.Errorf("rank %d: %+v, want an offset of %g µs", rank, e, want)
		}
	}
}
