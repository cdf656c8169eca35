// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/auth/authtest"
	"github.com/gvw-project/gvw/allreduce/internal/epoch"
	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/internal/kernels"
	"github.com/gvw-project/gvw/internal/sampled"
)

// jittery is a network that brings bytes late, in pieces, and those of different
// connections in any order.
type jittery struct {
	transport.Network
	seed uint64
	conn *atomic.Uint64
}

func (j jittery) Dial(ctx context.Context, addr string) (net.Conn, error) {
	c, err := j.Network.Dial(ctx, addr)
	return j.shake(c), err
}

func (j jittery) Listen(ctx context.Context, addr string) (net.Listener, error) {
	l, err := j.Network.Listen(ctx, addr)
	return jitteryListener{l, j}, err
}

func (j jittery) shake(c net.Conn) net.Conn {
	if c == nil {
		return nil
	}
	return &jitteryConn{c, rand.New(rand.NewPCG(j.seed, j.conn.Add(1)))}
}

type jitteryListener struct {
	net.Listener
	j jittery
}

func (l jitteryListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return l.j.shake(c), err
}

type jitteryConn struct {
	net.Conn
	rng *rand.Rand // of the one goroutine that reads
}

func (c *jitteryConn) Read(b []byte) (int, error) {
	if c.rng.IntN(4) == 0 {
		time.Sleep(time.Duration(c.rng.IntN(3000)) * time.Microsecond)
	}
	return c.Conn.Read(b[:min(len(b), 1+c.rng.IntN(2000))])
}

// sequel joins pieces of a walk over the ranks: associative, and never commutative. An
// element is a range of ranks, low half from, high half to; whatever does not fit
// together is the end of it.
var sequel = NewOp("sequel", false, func(dst, a, b []uint64) {
	for i := range dst {
		dst[i] = follow(a[i], b[i])
	}
})

func follow(a, b uint64) uint64 {
	if a>>32+1 != b&math.MaxUint32 {
		return math.MaxUint64
	}
	return a&math.MaxUint32 | b>>32<<32
}

// largest is an operation of our own that commutes.
var largest = NewOp("largest", true, func(dst, a, b []float64) {
	for i := range dst {
		dst[i] = max(a[i], b[i])
	}
})

// scene is a job and what its ranks do.
type scene struct {
	size, count, root int
	cfg               Config
	seed              uint64
}

func drawScene(rt *rapid.T, secret *auth.Secret) scene {
	size := rapid.IntRange(1, 9).Draw(rt, "ranks")
	counts := []int{0, 1, 2, 3, 7, 13, 97, size - 1, size, size + 1, 8 * size, 1009}
	s := scene{
		size:  size,
		count: rapid.SampledFrom(counts).Draw(rt, "elements"),
		root:  rapid.IntRange(0, size-1).Draw(rt, "root"),
		cfg: Config{
			Schedule:   rapid.SampledFrom(append([]schedule.Name{schedule.Auto}, schedule.Names...)).Draw(rt, "schedule"),
			Chunk:      8 * rapid.SampledFrom([]int{1, 2, 5, 64, 1000, 40_000}).Draw(rt, "words in a chunk"),
			NoChecksum: rapid.Bool().Draw(rt, "no checksums"),
		},
		seed: rapid.Uint64().Draw(rt, "seed"),
	}
	if !s.cfg.NoChecksum && rapid.Bool().Draw(rt, "a secret") {
		s.cfg.Credentials = &auth.Credentials{Secret: secret}
	}
	return s
}

// TestAnyScene checks random numbers of ranks, lengths, schedules, chunks and delays: integers are
// exact, and floats have the bits that the schedule defines.
func TestAnyScene(t *testing.T) {
	secret := authtest.Secret(t, "scene")
	rapid.Check(t, func(rt *rapid.T) {
		s := drawScene(rt, secret)
		var errs []error
		synctest.Test(t, func(t *testing.T) {
			var conns atomic.Uint64
			j, _ := newMemJob(t, s.size, s.cfg)
			for rank := range j.groups {
				j.reroute(rank, func(n transport.Network) transport.Network { return jittery{n, s.seed, &conns} })
			}
			errs = j.all(func(rank int) error {
				err := s.play(j.groups[rank])
				if err != nil {
					j.groups[rank].Fail(ctx, err)
				}
				return err
			})
			j.close()
		})
		for rank, err := range errs {
			if err != nil {
				rt.Fatalf("rank %d: %v", rank, err)
			}
		}
	})
}

// TestAnySceneOverTCP checks the same over sockets, with random drivers.
func TestAnySceneOverTCP(t *testing.T) {
	for nth, size := range []int{2, 3, 5} {
		for _, name := range sampled.Short(t, schedule.Names, nth, 3) {
			s := scene{size: size, count: 10_007, root: size / 2, cfg: Config{Schedule: name, Chunk: 4 << 10}, seed: uint64(size) * uint64(name)}
			t.Run(fmt.Sprint(size, name), func(t *testing.T) {
				if size == 3 {
					s.cfg.Credentials = &auth.Credentials{Secret: authtest.Secret(t, "scene")}
				}
				j := newTCPJob(t, size, s.cfg)
				for rank, g := range j.groups {
					g.cfg.driver = [...]epoch.Driver{epoch.Auto, epoch.Conn}[rank*(rank+size)/2%2]
				}
				j.each(func(rank int) error { return s.play(j.groups[rank]) })
			})
		}
	}
}

// play makes one call of each kind, some of them with few of the operations, and
// checks what comes of it.
func (s scene) play(g *Group) error {
	reductions := []func() error{
		func() error {
			return playReductions(s, g, Sum, func(r, i int) float32 { return float32(math.Sin(float64(s.count+7*r+i))) * float32(int(1)<<(i%20)) })
		},
		func() error {
			return playReductions(s, g, Product, func(r, i int) int64 { return int64(r*i)*1_000_003 - 5 })
		},
		func() error {
			return playReductions(s, g, sequel, func(r, _ int) uint64 { return uint64(r) | uint64(r)<<32 })
		},
		func() error {
			return playReductions(s, g, Min, func(r, i int) int32 { return int32(r*i%17) - 8 })
		},
		func() error {
			return playReductions(s, g, Sum, func(r, i int) float64 { return math.Sin(float64(r + 3*i)) })
		},
		func() error {
			return playReductions(s, g, Sum, func(r, i int) uint32 { return uint32(r)<<30 + uint32(i) })
		},
		func() error {
			return playReductions(s, g, largest, func(r, i int) float64 { return float64((r + i) % s.size) })
		},
		func() error {
			return playReductions(s, g, Max, func(r, i int) float32 { return float32(math.Copysign(float64(r*i%3), float64(r-i))) })
		},
	}
	var errs []error
	for i := int(s.seed % 4); i < len(reductions); i += 4 {
		errs = append(errs, reductions[i]())
	}
	return errors.Join(append(errs, s.playMoves(g))...)
}

// joinOf is what an operation does to one pair.
func joinOf[T kernels.Number](op Op, a, b T) T {
	d := []T{a}
	combineKindOrOwn(kernels.KindOf[T](), op, Vec(d).bytes(), Vec([]T{b}).bytes())
	return d[0]
}

func combineKindOrOwn(kind kernels.Kind, op Op, dst, b []byte) {
	if own := kernels.Lookup(op); own != nil {
		own.Join(dst, dst, b)
		return
	}
	kernels.CombineKind(kind, op, dst, dst, b)
}

// playReductions reduces vectors of which rank r has value(r, i) at i.
func playReductions[T kernels.Number](s scene, g *Group, op Op, value func(r, i int) T) error {
	own := func(r int) []T {
		v := make([]T, s.count)
		for i := range v {
			v[i] = value(r, i)
		}
		return v
	}
	elem := kernels.KindOf[T]().Size()
	spec := schedule.Spec{Schedule: s.cfg.Schedule, Size: s.size, Bytes: s.count * elem, Elem: elem, Chunk: s.cfg.Chunk, Ordered: !kernels.Commutes(op)}
	if spec.Ordered && !spec.Schedule.Ordered() {
		spec.Schedule = schedule.Auto
	}
	join := func(a, b T) T { return joinOf(op, a, b) }
	want := evaluate(spec, own, join)
	what := fmt.Sprintf("%v of %d %v, %v", op, s.count, kernels.KindOf[T](), spec.Schedule)
	v, mine := own(g.Rank()), own(g.Rank())
	if err := g.AllReduce(ctx, Vec(v), op); err != nil {
		return err
	}
	if !slices.Equal(kernels.View[byte](Vec(v).bytes()), kernels.View[byte](Vec(want).bytes())) {
		return fmt.Errorf("%s: got %v, want %v", what, v, want)
	}
	into := make([]T, s.count)
	if err := g.AllReduceInto(ctx, Vec(into), Vec(mine), op); err != nil {
		return err
	}
	if !slices.Equal(into, want) || !slices.Equal(mine, own(g.Rank())) {
		return fmt.Errorf("%s, into: got %v, want %v", what, into, want)
	}
	if err := g.Reduce(ctx, Vec(mine), op, s.root); err != nil {
		return err
	}
	if g.Rank() == s.root && !near(mine, want) {
		return fmt.Errorf("reduce, %s: got %v, want %v", what, mine, want)
	}
	mine = own(g.Rank())
	if err := g.ReduceScatter(ctx, Vec(mine), op); err != nil {
		return err
	}
	if lo, hi := g.Segment(s.count, g.Rank()); !near(mine[lo:hi], want[lo:hi]) {
		return fmt.Errorf("reduce-scatter, %s: got %v at %d, want %v", what, mine[lo:hi], lo, want[lo:hi])
	}
	return nil
}

// near reports whether numbers are equal except for the last bits of sums of floats in another
// order.
func near[T kernels.Number](a, b []T) bool {
	return slices.EqualFunc(a, b, func(x, y T) bool {
		if k := kernels.KindOf[T](); k != kernels.Float32 && k != kernels.Float64 {
			return x == y
		}
		return math.Abs(float64(x)-float64(y)) <= 1e-5*(1<<20)
	})
}

// playMoves calls the collectives that only move data.
func (s scene) playMoves(g *Group) error {
	n, me := s.count, g.Rank()
	mark := func(r, i int) byte { return byte(r*31 + i + 1) }
	full := func(r int) []byte {
		v := make([]byte, n)
		for i := range v {
			v[i] = mark(r, i)
		}
		return v
	}
	segments := make([]byte, n) // each rank's own part of its own vector
	for r := range s.size {
		lo, hi := g.Segment(n, r)
		copy(segments[lo:hi], full(r)[lo:hi])
	}
	lo, hi := g.Segment(n, me)
	v := full(me)
	check := func(what string, err error, got, want []byte) error {
		if err == nil && !slices.Equal(got, want) {
			err = fmt.Errorf("%s: got %v, want %v", what, got, want)
		}
		return err
	}
	if err := check("broadcast", g.Broadcast(ctx, Vec(v), s.root), v, full(s.root)); err != nil {
		return err
	}
	v = full(me)
	if err := check("all-gather", g.AllGather(ctx, Vec(v)), v, segments); err != nil {
		return err
	}
	v = full(me)
	if err := g.Gather(ctx, Vec(v), s.root); err != nil || me == s.root && !slices.Equal(v, segments) {
		return errors.Join(err, fmt.Errorf("gather: got %v, want %v", v, segments))
	}
	v = full(me)
	if err := check("scatter", g.Scatter(ctx, Vec(v), s.root), v[lo:hi], full(s.root)[lo:hi]); err != nil {
		return err
	}
	into, next, last := make([]byte, n), (me+1)%s.size, (me+s.size-1)%s.size
	if err := check("send and receive", g.SendRecv(ctx, Vec(into), last, Vec(full(me)), next), into, full(last)); err != nil {
		return err
	}
	return g.Barrier(ctx)
}
