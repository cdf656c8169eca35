// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/internal/kernels"
)

// fakeOwner is the owner of a group without an engine.
type fakeOwner struct {
	header  []byte
	once    *sync.Once
	failed  chan struct{} // of all ranks
	counted int
	mu      sync.Mutex
	err     error
}

func (o *fakeOwner) fail(err error) {
	o.mu.Lock()
	o.err = err
	o.mu.Unlock()
	o.once.Do(func() { close(o.failed) })
}

func (o *fakeOwner) Agrees(rank int, theirs []byte, n uint64) bool {
	if n != uint64(len(o.header)) || !bytes.HasPrefix(theirs, o.header) {
		o.fail(fmt.Errorf("rank %d calls %q", rank, theirs[:len(o.header)]))
		return false
	}
	return true
}

func (o *fakeOwner) Corrupt(_ int, err error) { o.fail(err) }
func (o *fakeOwner) Progress(n int)           { o.counted += n }
func (o *fakeOwner) Attend()                  {}
func (o *fakeOwner) InterHost(context.Context, *schedule.Program, []byte) bool {
	panic("BUG: one host only")
}

// newGroups returns the groups of all ranks of a host, and their owners.
func newGroups(t *testing.T, n int) ([]*Group, []*fakeOwner) {
	t.Helper()
	_, size := Layout(n)
	first, err := NewSegment(size, ArenaBytes)
	if err != nil {
		t.Fatal(err)
	}
	once, failed := new(sync.Once), make(chan struct{})
	groups, owners, ranks := make([]*Group, n), make([]*fakeOwner, n), make([]int, n)
	for i := range ranks {
		ranks[i] = 10 + 3*i // ranks are not places
	}
	for i := range groups {
		seg := first
		if i > 0 {
			if seg, err = OpenSegment(first.Location()); err != nil {
				t.Fatal(err)
			}
		}
		owners[i] = &fakeOwner{once: once, failed: failed}
		groups[i] = NewGroup(owners[i], failed, seg, ranks[i], ranks)
		t.Cleanup(func() {
			if _, err := groups[i].Close(false); err != nil {
				t.Error(err)
			}
		})
	}
	return groups, owners
}

// reduceAll has all ranks reduce their vectors in place, and returns whether each of them has ended
// without a failure.
func reduceAll(groups []*Group, owners []*fakeOwner, v [][]byte, headers ...string) []bool {
	spec := schedule.Spec{Size: len(groups), Bytes: len(v[0]), Elem: 4, Schedule: schedule.BinaryTree}
	programs := Compile(spec.Sums(), true)
	done := make([]bool, len(groups))
	var wg sync.WaitGroup
	for i, g := range groups {
		owners[i].header = []byte(headers[i%len(headers)])
		wg.Go(func() {
			if !g.Enter() {
				return
			}
			defer g.Leave()
			g.Begin()
			b := v[i]
			done[i] = g.Reduce(context.Background(), owners[i].header, Task{Kind: kernels.Float32, Op: kernels.Sum, Dst: b, Src: b, Programs: programs})
		})
	}
	wg.Wait()
	return done
}

// TestGroupSums checks the sums of consecutive collectives on all ranks, for random lengths and any
// mixture of vectors inside and outside the arena.
func TestGroupSums(t *testing.T) {
	for n := 2; n <= 5; n++ {
		groups, owners := newGroups(t, n)
		rng := rand.New(rand.NewPCG(1, uint64(n)))
		for round := range 40 {
			count := 1 + rng.IntN(1<<(2+rng.IntN(17)))
			v, want, inArena := make([][]byte, n), make([]float32, count), make([]bool, n)
			for i := range v {
				v[i] = make([]byte, 4*count)
				if inArena[i] = rng.IntN(2) == 0; inArena[i] {
					b, err := groups[i].Alloc(4 * count)
					if err != nil {
						t.Fatal(err)
					}
					v[i] = b
				}
				for k := range count {
					x := float32(rng.IntN(1000)) // sums of integers are exact in any order
					kernels.View[float32](v[i])[k] = x
					want[k] += x
				}
			}
			for i, ok := range reduceAll(groups, owners, v, fmt.Sprint("round ", round)) {
				if !ok {
					t.Fatalf("%d ranks, round %d: place %d failed: %v", n, round, i, owners[i].err)
				}
				for k, got := range kernels.View[float32](v[i]) {
					if got != want[k] {
						t.Fatalf("%d ranks, round %d, in the arena %v: element %d of %d at place %d is %v, want %v", n, round, inArena, k, count, i, got, want[k])
					}
				}
				if got, moved := owners[i].counted, groups[i].Moved(); got < 4*count || moved == 0 {
					t.Fatalf("%d ranks, round %d: counted %d bytes of %d, moved %d", n, round, got, 4*count, moved)
				}
				owners[i].counted = 0
				if rank, _ := groups[i].Awaited(); round == 0 && rank == groups[i].Ranks[i] {
					t.Errorf("place %d waits for itself", i)
				}
			}
		}
	}
}

// TestGroupCompares checks that ranks that announce different calls all fail, and that none writes
// to the result.
func TestGroupCompares(t *testing.T) {
	for _, count := range []int{1, 3000, 500_000} {
		groups, owners := newGroups(t, 3)
		v := make([][]byte, 3)
		for i := range v {
			v[i] = make([]byte, 4*count)
		}
		for i, ok := range reduceAll(groups, owners, v, "gradient", "curvature") {
			if ok {
				t.Errorf("%d elements: place %d does not notice that the calls differ", count, i)
			}
		}
		if owners[0].err == nil && owners[1].err == nil && owners[2].err == nil {
			t.Errorf("%d elements: no owner was asked to fail", count)
		}
	}
}

// TestGroupClosed checks that a closed group refuses collectives and memory.
func TestGroupClosed(t *testing.T) {
	groups, _ := newGroups(t, 2)
	if _, err := groups[0].Close(false); err != nil {
		t.Fatal(err)
	}
	if groups[0].Enter() {
		t.Error("Enter after Close")
	}
	if _, err := groups[0].Alloc(1); !errors.Is(err, ErrClosed) {
		t.Errorf("Alloc after Close: got %v", err)
	}
}
