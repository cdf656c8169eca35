// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/allreduce/transport/mem"
	"github.com/gvw-project/gvw/internal/mesh"
	"github.com/gvw-project/gvw/internal/sampled"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// capture is what crossed one connection between two real vw workers.
type capture struct{ up, down []byte }

// readCapture reads the payloads between a child's port and its parent, 26544. The
// dump shows the first 64 bytes of a packet; the others are taken for zeros here, in
// all packets alike, so that sums of them stay what they are.
func readCapture(t *testing.T, child string) capture {
	t.Helper()
	b, err := os.ReadFile("testdata/three_workers_adaptive_b4.txt")
	if err != nil {
		t.Fatal(err)
	}
	var c capture
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if !strings.HasPrefix(f[2], "len=") {
			continue // flags, no payload
		}
		payload, err := hex.DecodeString(strings.Join(f[3:], ""))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		var size int
		if _, err := fmt.Sscanf(f[2], "len=%d", &size); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		payload = append(payload, make([]byte, size-len(payload))...)
		switch f[1] {
		case child + "->26544":
			c.up = append(c.up, payload...)
		case "26544->" + child:
			c.down = append(c.down, payload...)
		}
	}
	// 16 adaptive sums, 16 weights of 4 floats, 6 scalars.
	if want := 4 * (16 + 64 + 6); len(c.up) != want || len(c.down) != want {
		t.Fatalf("the capture of port %s has %d bytes up and %d down, want %d", child, len(c.up), len(c.down), want)
	}
	return c
}

func floats(b []byte) []float32 {
	v := make([]float32, len(b)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v
}

// solitary is a coordinator for one rank whose wiring the test makes up.
type solitary struct {
	wiring client.Wiring
	over   chan struct{}
}

func (s *solitary) Ready(context.Context, Shard) (*client.Wiring, error) {
	return &s.wiring, nil
}
func (s *solitary) Members(context.Context) ([]int, error) { return []int{0}, nil }
func (s *solitary) Excluded() bool                         { return false }

func (s *solitary) Next(context.Context, *client.Wiring) (*client.Wiring, error) {
	panic("BUG: a job with vw workers has one epoch")
}
func (s *solitary) Newest() *client.Wiring               { return &s.wiring }
func (s *solitary) Ended(*client.Wiring) <-chan struct{} { return s.over }
func (s *solitary) EndOf(*client.Wiring) error           { return nil }
func (s *solitary) Ask(context.Context, int, uint64, protocol.EdgeFault, string) bool {
	return false
}
func (s *solitary) Lease(context.Context) error                { return nil }
func (s *solitary) Over() <-chan struct{}                      { return s.over }
func (s *solitary) ServerErr() error                           { return nil }
func (s *solitary) Cause() error                               { return nil }
func (s *solitary) Report(Progress)                            {}
func (s *solitary) Fail(context.Context, string, string) error { return nil }
func (s *solitary) SetLeaveReason(string)                      {}
func (s *solitary) Complete(_ context.Context, _ [32]byte, owes []string) ([]string, error) {
	return owes, nil
}
func (s *solitary) Delivered(context.Context, string, [32]byte) error { return nil }
func (s *solitary) Finish(context.Context) error                      { return nil }
func (s *solitary) Close() error                                      { return nil }

// streamGroup is a rank of a job with vw workers, at host h<rank> of n.
func streamGroup(t *testing.T, n *mem.Network, rank, total int, parent string, kids int) *Group {
	t.Helper()
	cfg := Config{Server: "none:1", Rank: rank, Total: total, Network: n.Host(fmt.Sprintf("h%d", rank)), Listen: ":26544"}.withDefaults()
	g := newGroup(cfg)
	g.member = &solitary{wiring: client.Wiring{Stream: true, Parent: parent, Kids: kids}, over: make(chan struct{})}
	var err error
	if g.mesh, err = mesh.Listen(ctx, cfg.mesh(), meshed{g}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

// playSession makes the calls of the captured job with the numbers of the worker
// that sent up.
func playSession(g *Group, up []byte) error {
	v := floats(up)
	if err := g.AllReduce(ctx, Vec(v[:16]).Named("adaptive sums"), Sum); err != nil {
		return err
	}
	if err := g.AllReduce(ctx, Vec(v[16:80]).Named("weights"), Sum); err != nil {
		return err
	}
	names := slices.Repeat([]string{"a total"}, len(v)-80)
	_, err := g.AccumulateTotals(ctx, names, v[80:])
	return err
}

// TestRootSpeaksVW checks that the root, between two vw workers played from the capture, sends the
// bytes that vw's root sent.
func TestRootSpeaksVW(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := mem.New()
		captures := []capture{readCapture(t, "38264"), readCapture(t, "38276")}
		g := streamGroup(t, n, 1, 3, "", 2)
		var wg sync.WaitGroup
		for i, c := range captures {
			wg.Go(func() {
				conn, err := n.Host(fmt.Sprintf("child%d", i)).Dial(ctx, "h1:26544")
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Close()
				rest := c.down
				for up := c.up; len(up) > 0; { // one call after the other, as vw
					size := min(len(up), callSize(len(c.up)-len(up)))
					if _, err := conn.Write(up[:size]); err != nil {
						t.Error(err)
					}
					got := make([]byte, size)
					if _, err := io.ReadFull(conn, got); err != nil {
						t.Errorf("child %d: %v", i, err)
						return
					}
					if !bytes.Equal(got, rest[:size]) {
						t.Errorf("child %d got %x, vw's root sent %x", i, got, rest[:size])
					}
					up, rest = up[size:], rest[size:]
				}
			})
		}
		if err := playSession(g, captures[0].up); err != nil { // all three workers had the same data
			t.Error(err)
		}
		wg.Wait()
	})
}

// callSize is how many bytes the call at this offset of the capture has.
func callSize(offset int) int {
	switch {
	case offset < 64:
		return 64
	case offset < 320:
		return 256
	}
	return 4
}

// TestLeafSpeaksVW checks that a leaf sends the bytes that vw's leaf sent, and accepts its
// parent's answer.
func TestLeafSpeaksVW(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := mem.New()
		c := readCapture(t, "38264")
		l, err := n.Host("root").Listen(ctx, ":26544")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		g := streamGroup(t, n, 0, 3, "root:26544", 0)
		var wg sync.WaitGroup
		wg.Go(func() {
			conn, err := l.Accept()
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			for at := 0; at < len(c.up); at += callSize(at) {
				got := make([]byte, callSize(at))
				if _, err := io.ReadFull(conn, got); err != nil {
					t.Error(err)
					return
				}
				if want := c.up[at : at+len(got)]; !bytes.Equal(got, want) {
					t.Errorf("at byte %d the leaf sent %x, vw's sent %x", at, got, want)
				}
				if _, err := conn.Write(c.down[at : at+len(got)]); err != nil {
					t.Error(err)
				}
			}
		})
		if err := playSession(g, c.up); err != nil {
			t.Error(err)
		}
		wg.Wait()
	})
}

func TestStreamRefusesWhatVWLacks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := streamGroup(t, mem.New(), 0, 3, "", 0)
		for name, err := range map[string]error{
			"broadcast":             g.Broadcast(ctx, Vec([]float32{1}), 0),
			"barrier":               g.Barrier(ctx),
			"all-reduce of maxima":  g.AllReduce(ctx, Vec([]float32{1}), Max),
			"all-reduce of float64": g.AllReduce(ctx, Vec([]float64{1}), Sum),
			"all-gather":            func() error { _, err := g.AllGatherV(ctx, nil, nil); return err }(),
		} {
			call, _, _ := strings.Cut(name, " of ")
			if err == nil || !strings.Contains(err.Error(), call+": in a job with vw workers only sums of float32 exist") {
				t.Errorf("%s: got %v", name, err)
			}
		}
		g = streamGroup(t, mem.New(), 0, 3, "", 0)
		g.cfg.Checkpoints = &memoryCheckpoints{}
		if err := g.Ready(ctx, Shard{}); err == nil || !strings.Contains(err.Error(), "Checkpoints are set, but vw workers are in the job") {
			t.Errorf("checkpoints: got %v", err)
		}
	})
}

// vwWorker is a rank that behaves as vw's workers do (vw's allreduce_sockets.cc): it registers in
// the vw protocol, sends all of a vector up before it reads anything from its parent, and
// reads all from its children before it sends anything down.
type vwWorker struct {
	parent net.Conn
	kids   []net.Conn
}

func newVWWorker(server string, id, total int) (*vwWorker, error) {
	c, err := net.Dial("tcp", server)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	var hello []byte
	for _, v := range []int{7, total, id} {
		hello = binary.LittleEndian.AppendUint64(hello, uint64(v))
	}
	if _, err := c.Write(hello); err != nil {
		return nil, err
	}
	var answer [6]byte // ok, number of children
	if _, err := io.ReadFull(c, answer[:]); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer l.Close()
	port := uint16(l.Addr().(*net.TCPAddr).Port)
	if _, err := c.Write(binary.BigEndian.AppendUint16(nil, port)); err != nil {
		return nil, err
	}
	var parent [6]byte
	if _, err := io.ReadFull(c, parent[:]); err != nil {
		return nil, err
	}
	w := &vwWorker{}
	if !bytes.Equal(parent[:4], []byte{255, 255, 255, 255}) {
		addr := net.JoinHostPort(net.IP(parent[:4]).String(), fmt.Sprint(binary.BigEndian.Uint16(parent[4:])))
		if w.parent, err = net.Dial("tcp", addr); err != nil {
			return nil, err
		}
	}
	for range answer[4] {
		kid, err := l.Accept()
		if err != nil {
			return nil, err
		}
		w.kids = append(w.kids, kid)
	}
	return w, nil
}

func (w *vwWorker) allReduce(v []float32) error {
	b := Vec(v).bytes()
	sums := make([][]byte, len(w.kids))
	var wg sync.WaitGroup
	errs := make([]error, len(w.kids))
	for i, kid := range w.kids {
		sums[i] = make([]byte, len(b))
		wg.Go(func() { _, errs[i] = io.ReadFull(kid, sums[i]) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, s := range sums {
		for i, x := range floats(s) {
			v[i] += x
		}
	}
	if w.parent != nil {
		if _, err := w.parent.Write(b); err != nil {
			return err
		}
		if _, err := io.ReadFull(w.parent, b); err != nil {
			return err
		}
	}
	for _, kid := range w.kids {
		if _, err := kid.Write(b); err != nil {
			return err
		}
	}
	return nil
}

func (w *vwWorker) close() {
	for _, c := range append(w.kids, w.parent) {
		if c != nil {
			c.Close()
		}
	}
}

// mixedJob runs a job of total ranks, of which those with isVW are vw workers.
// It returns the errors of all ranks.
func mixedJob(t *testing.T, total int, isVW func(rank int) bool, vw func(rank int, w *vwWorker) error, gvw func(rank int, g *Group) error) []error {
	t.Helper()
	server := startServer(t, tcpNetwork, "127.0.0.1:0")
	errs := make([]error, total)
	var wg sync.WaitGroup
	for rank := range total {
		wg.Go(func() {
			errs[rank] = func() error {
				if isVW(rank) {
					w, err := newVWWorker(server, rank, total)
					if err != nil {
						return err
					}
					defer w.close()
					return vw(rank, w)
				}
				g, err := Join(ctx, Config{Server: server, Job: Job{UniqueID: 7}, Rank: rank, Total: total, Listen: "127.0.0.1:0"})
				if err != nil {
					return err
				}
				defer g.Close()
				return gvw(rank, g)
			}()
		})
	}
	wg.Wait()
	return errs
}

// TestMixedJob checks that gvw ranks and vw workers at all places of one tree agree on sums, also
// of vectors larger than a socket's buffers.
func TestMixedJob(t *testing.T) {
	const elements = 1 << 20
	for _, c := range sampled.Race(t, []struct {
		name  string
		total int
		isVW  func(rank int) bool
	}{
		{"even ranks of 5", 5, func(r int) bool { return r%2 == 0 }},
		{"odd ranks of 5", 5, func(r int) bool { return r%2 == 1 }},
		{"one of 2", 2, func(r int) bool { return r == 0 }},
		{"the last of 4", 4, func(r int) bool { return r == 3 }},
	}, 0, 3) {
		t.Run(c.name, func(t *testing.T) {
			want, scale := make([]float64, elements), make([]float64, elements)
			for r := range c.total {
				for i, x := range contribution(r, elements) {
					want[i] += float64(x)
					scale[i] += math.Abs(float64(x))
				}
			}
			var mu sync.Mutex
			var first []float32
			check := func(v []float32, scalar float32) error {
				for i := range v {
					if math.Abs(float64(v[i])-want[i]) > 1e-5*(1+scale[i]) {
						return fmt.Errorf("element %d: got %v, want %v", i, v[i], want[i])
					}
				}
				mu.Lock()
				defer mu.Unlock()
				if first == nil {
					first = v
				}
				if !sameBits(first, v) {
					return errors.New("ranks have different sums")
				}
				if scalar != float32(c.total) {
					return fmt.Errorf("scalar: got %v, want %d", scalar, c.total)
				}
				return nil
			}
			for rank, err := range mixedJob(t, c.total, c.isVW, func(rank int, w *vwWorker) error {
				v, one := contribution(rank, elements), []float32{1}
				if err := errors.Join(w.allReduce(v), w.allReduce(one)); err != nil {
					return err
				}
				return check(v, one[0])
			}, func(rank int, g *Group) error {
				v := contribution(rank, elements)
				if err := g.AllReduce(ctx, Vec(v), Sum); err != nil {
					return err
				}
				if !g.Stream() {
					return errors.New("not told that vw is in the job")
				}
				x, err := g.AccumulateScalar(ctx, "ranks", 1)
				if err != nil {
					return err
				}
				if err := check(v, x); err != nil {
					return err
				}
				return g.Finish(ctx, [32]byte{}, nil, nil)
			}) {
				if err != nil {
					t.Errorf("rank %d: %v", rank, err)
				}
			}
		})
	}
}

// TestLeave checks that a vw worker at any place of the tree may end between the last pass and the
// totals: the others keep their own totals and deliver their files.
func TestLeave(t *testing.T) {
	const total = 5
	for leaver := range total {
		t.Run(fmt.Sprintf("rank %d", leaver), func(t *testing.T) {
			var mu sync.Mutex
			var delivered []string
			for rank, err := range mixedJob(t, total, func(r int) bool { return r == leaver }, func(rank int, w *vwWorker) error {
				return w.allReduce(make([]float32, 1000))
			}, func(rank int, g *Group) error {
				if err := g.AllReduce(ctx, Vec(make([]float32, 1000)).Named("weights"), Sum); err != nil {
					return err
				}
				time.Sleep(time.Duration(rank) * 20 * time.Millisecond) // some see it between calls, some within
				totals := []float32{1, 2}
				if complete, err := g.AccumulateTotals(ctx, []string{"sum of losses", "number of examples"}, totals); complete || err != nil || totals[0] != 1 || totals[1] != 2 {
					return fmt.Errorf("got totals %v, complete %v and %v, want this rank's", totals, complete, err)
				}
				return g.Finish(ctx, [32]byte{}, []string{fmt.Sprint(rank)}, func(_ context.Context, file string) ([32]byte, error) {
					mu.Lock()
					defer mu.Unlock()
					delivered = append(delivered, file)
					return [32]byte{}, nil
				})
			}) {
				if err != nil {
					t.Errorf("rank %d: %v", rank, err)
				}
			}
			if slices.Sort(delivered); len(delivered) != total-1 {
				t.Errorf("delivered %q, want the files of all but rank %d", delivered, leaver)
			}
		})
	}
}

// TestVWWorkerLost checks that the end of a vw worker at any other time is a loss, and ends the
// job by its connection, not by a deadline.
func TestVWWorkerLost(t *testing.T) {
	sampled.NotInCheck(t, os.Getenv)
	const total, leaver = 4, 2
	for _, calls := range []int{0, 1, 2} {
		t.Run(fmt.Sprintf("after %d calls", calls), func(t *testing.T) {
			for rank, err := range mixedJob(t, total, func(r int) bool { return r == leaver }, func(rank int, w *vwWorker) error {
				for range calls {
					if err := w.allReduce(make([]float32, 1)); err != nil {
						return err
					}
				}
				return nil
			}, func(rank int, g *Group) error {
				for i := range 4 {
					if i == 1 {
						g.leaving()
					}
					if _, err := g.AccumulateScalar(ctx, "a number", 1); err != nil {
						if errors.Is(err, engine.ErrLeft) != (calls == 1) {
							return err
						}
						if _, ok := errors.AsType[*LostError](err); !ok && calls != 1 {
							return err
						}
						return nil
					}
				}
				return errors.New("all calls came through")
			}) {
				if err != nil {
					t.Errorf("rank %d: %v", rank, err)
				}
			}
		})
	}
}
