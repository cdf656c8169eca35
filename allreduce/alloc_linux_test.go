// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/internal/kernels"
	"github.com/gvw-project/gvw/internal/sampled"
	"github.com/gvw-project/gvw/internal/shm"
)

// TestAllocHasTheBytesOfTCP checks that slices from Alloc give the same bytes as TCP: with every
// schedule, in place or not, and for every choice of ranks that use Alloc.
func TestAllocHasTheBytesOfTCP(t *testing.T) {
	const size = 4
	counts := []int{1, shm.Small/4 + 1, 12_007, (shm.Depth*shm.Piece + 12) / 4}
	for _, name := range sampled.Short(t, schedule.Names, 0, 3) {
		t.Run(name.String(), func(t *testing.T) {
			tcp, shm := newTCPJob(t, size, Config{Schedule: name}), newSharedJob(t, size, Config{Schedule: name})
			for seed, count := range counts {
				want := make([][]float32, size)
				tcp.each(func(rank int) error {
					want[rank] = wild(count, seed, rank)
					return tcp.groups[rank].AllReduce(ctx, Vec(want[rank]), Sum)
				})
				for _, who := range []int{0b0000, 0b0001, 0b0110, 0b1011, 0b1111} {
					shm.each(func(rank int) error {
						return allocSum(shm.groups[rank], who, seed, want[0])
					})
				}
			}
		})
	}
}

// allocSum sums in place and into another slice. Each bit of who stands for
// a vector of a rank that is in shared memory.
func allocSum(g *Group, who, seed int, want []float32) error {
	var dst, src []float32
	var err error
	for i, v := range []*[]float32{&dst, &src} {
		if who>>((g.Rank()+i*who)%g.Size())&1 == 0 {
			*v = make([]float32, len(want))
		} else if *v, err = Alloc[float32](g, len(want)); err != nil {
			return err
		}
	}
	contribution := wild(len(want), seed, g.Rank())
	copy(src, contribution)
	if err := g.AllReduceInto(ctx, Vec(dst), Vec(src), Sum); err != nil {
		return err
	}
	if !slices.Equal(src, contribution) {
		return errors.New("the contribution has changed")
	}
	if err := g.AllReduce(ctx, Vec(src), Sum); err != nil {
		return err
	}
	if !slices.Equal(dst, want) || !slices.Equal(src, want) {
		return fmt.Errorf("%d elements, who %b: the bytes differ from those over TCP", len(want), who)
	}
	return nil
}

// TestAllocOfAllKinds checks other kinds and operations, and parts of slices.
func TestAllocOfAllKinds(t *testing.T) {
	j := newSharedJob(t, 3, Config{})
	j.each(func(rank int) error {
		g := j.groups[rank]
		v, err := Alloc[int64](g, 10_000)
		if err != nil {
			return err
		}
		rng := rand.New(rand.NewPCG(1, uint64(rank)))
		for i := range v {
			v[i] = rng.Int64N(1000)
		}
		const lo, hi = 777, 7777
		want := slices.Clone(v)
		if err := g.AllReduce(ctx, Vec(v[lo:hi]), Max); err != nil {
			return err
		}
		if err := g.AllReduce(ctx, Vec(want[lo:hi]), Max); err != nil {
			return err
		}
		if !slices.Equal(v, want) {
			return errors.New("the maximum differs from that of ordinary slices")
		}
		w, err := Alloc[uint64](g, 5000)
		if err != nil {
			return err
		}
		for i := range w {
			w[i] = uint64(rank)<<32 | uint64(rank)
		}
		if err := g.AllReduce(ctx, Vec(w), sequel); err != nil {
			return err
		}
		for i, x := range w {
			if x != 2<<32 {
				return fmt.Errorf("%d: the walk is %x", i, x)
			}
		}
		return nil
	})
}

// TestAllocWithoutSharedMemory checks that Alloc returns ordinary slices without shared memory,
// and errors before Ready and after Close.
func TestAllocWithoutSharedMemory(t *testing.T) {
	j := newTCPJob(t, 2, Config{})
	if _, err := Alloc[float32](j.groups[0], 10); !errors.Is(err, errNotReady) {
		t.Errorf("before Ready: got %v", err)
	}
	j.each(func(rank int) error {
		if err := j.groups[rank].Ready(ctx, Shard{}); err != nil {
			return err
		}
		v, err := Alloc[float32](j.groups[rank], 10_000)
		if err != nil {
			return err
		}
		v[0] = 1
		if err = j.groups[rank].AllReduce(ctx, Vec(v), Sum); err == nil && v[0] != 2 {
			err = fmt.Errorf("got %v, want 2", v[0])
		}
		return err
	})
	j.close()
	if _, err := Alloc[byte](j.groups[0], 1); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: got %v", err)
	}
	if v, err := Alloc[byte](Local(), 3); err != nil || !bytes.Equal(v, make([]byte, 3)) {
		t.Errorf("alone: got %v, %v", v, err)
	}
}

// TestAllocOfTooMuch checks that a slice larger than the arena is an ordinary one, with a
// warning in the log.
func TestAllocOfTooMuch(t *testing.T) {
	j := newSharedJob(t, 2, Config{})
	s := j.groups[1].epoch.Engine.Shared
	s.Given = len(s.Arena)/2 - os.Getpagesize()
	v, err := Alloc[float32](j.groups[1], 10_000)
	if err != nil || s.InArena(Vec(v).bytes()) != 0 {
		t.Errorf("got %v, in the arena: %d", err, s.InArena(Vec(v).bytes()))
	}
	if log := j.logs[1].String(); !strings.Contains(log, "bytes of addresses are left to this rank") {
		t.Errorf("got %q", log)
	}
}

// TestNoArena checks that ranks share memory without an arena where the file cannot be so long.
func TestNoArena(t *testing.T) {
	j := newLoopbackJob(t, 2, Config{})
	j.groups[0].segments.Make = func(n int, _ int64) (*shm.Segment, error) { return shm.NewSegment(n, 0) }
	j.ready()
	j.each(func(rank int) error {
		v, err := Alloc[float32](j.groups[rank], 5000)
		if err != nil {
			return err
		}
		v[4999] = 1
		if err = j.groups[rank].AllReduce(ctx, Vec(v), Sum); err == nil && (v[4999] != 2 || !j.groups[rank].SharedMemory()) {
			err = fmt.Errorf("got %v, shared memory %v", v[4999], j.groups[rank].SharedMemory())
		}
		return err
	})
}

// TestAVectorBeyondTheArena checks that places which another rank wrote into the segment are
// compared with the arena's bounds.
func TestAVectorBeyondTheArena(t *testing.T) {
	j := newSharedJob(t, 2, Config{})
	s := j.groups[0].epoch.Engine.Shared
	for _, at := range []uint64{uint64(len(s.Arena)) + 1, uint64(len(s.Arena)) - 98, math.MaxUint64} {
		room := make([]byte, shm.HeaderRoom)
		for i := range 8 {
			room[shm.HeaderDst+i] = byte(at >> (8 * i))
		}
		if _, ok := s.HomeOf(room, 100); ok {
			t.Errorf("%d: 100 bytes there lie in an arena of %d", at-1, len(s.Arena))
		}
	}
}

// TestAllocOutlivesItsEpoch checks that a slice keeps its content after the end of its epoch,
// and that other ranks cannot reach it any more.
func TestAllocOutlivesItsEpoch(t *testing.T) {
	j := newSharedJob(t, 2, Config{})
	v := make([][]float32, 2)
	j.each(func(rank int) (err error) {
		v[rank], err = Alloc[float32](j.groups[rank], 5000)
		v[rank][4999] = float32(rank + 1)
		return err
	})
	s := [2]*shm.Group{j.groups[0].epoch.Shared(), j.groups[1].epoch.Shared()}
	at := s[0].InArena(Vec(v[0]).bytes()) - 1
	theirs := kernels.View[float32](s[1].Arena[at:][:4*5000])
	if theirs[4999] != 1 {
		t.Fatalf("rank 1 sees %v, want 1", theirs[4999])
	}
	left, err := s[0].Close(true) // as at the end of the epoch
	if err != nil {
		t.Fatal(err)
	}
	j.groups[0].left = append(j.groups[0].left, left)
	theirs[4999] = 77
	if v[0][4999] != 1 {
		t.Errorf("got %v, want 1: another rank has written to it", v[0][4999])
	}
	v[0][0] = 5
	if theirs[0] == 5 {
		t.Error("another rank sees what is written")
	}
}
