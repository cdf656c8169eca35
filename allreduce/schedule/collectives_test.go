// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawSpec draws sizes on both sides of all thresholds.
func drawSpec(t *rapid.T) Spec {
	n := rapid.IntRange(2, 40).Draw(t, "ranks")
	elems := rapid.OneOf(rapid.IntRange(0, 2*n), rapid.IntRange(1, 100_000)).Draw(t, "elements")
	chunk := 8 * rapid.SampledFrom([]int{1, 100, 32 << 10}).Draw(t, "chunk")
	return Spec{Size: n, Bytes: 4 * elems, Elem: 4, Chunk: max(chunk, elems/50*8), Ordered: rapid.Bool().Draw(t, "ordered")}
}

// drawOffsets cuts the vector into records, some of them empty.
func drawOffsets(t *rapid.T, s Spec) []int {
	offsets := []int{0, s.Bytes}
	for range s.Size - 1 {
		offsets = append(offsets, rapid.IntRange(0, s.Bytes).Draw(t, "offset"))
	}
	slices.Sort(offsets)
	return offsets
}

func execute(t *rapid.T, s Spec, inPlace bool, make func(rank int) *Program) *Outcome {
	o, err := Execute(programs(s.Size, make), inPlace)
	if err != nil {
		t.Fatalf("%+v: %v", s, err)
	}
	return o
}

// holds fails the test unless rank has a sum that want accepts in all of lo … hi.
func holds(t *rapid.T, o *Outcome, rank, lo, hi int, want func(Sum) bool) {
	at := lo
	for _, x := range o.At(rank) {
		if lo == hi || x.Hi <= lo || x.Lo >= hi {
			continue
		}
		if x.Lo > at || !want(x) {
			t.Fatalf("rank %d holds %v in bytes %d to %d", rank, x, x.Lo, x.Hi)
		}
		at = x.Hi
	}
	if at < hi {
		t.Fatalf("rank %d holds nothing in bytes %d to %d", rank, at, hi)
	}
}

func of(rank int) func(Sum) bool {
	return func(x Sum) bool { return slices.Equal(x.Expr, []int32{int32(rank)}) }
}

// all accepts a sum of all contributions, each once, and in order if ordered is set.
func all(s Spec, ordered bool) func(Sum) bool {
	return func(x Sum) bool {
		ranks := slices.DeleteFunc(slices.Clone(x.Expr), func(r int32) bool { return r == Join })
		if !ordered {
			slices.Sort(ranks)
		}
		for i, r := range ranks {
			if int(r) != i {
				return false
			}
		}
		return len(ranks) == s.Size
	}
}

func TestReduceSumsAtItsRoot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpec(t)
		root := rapid.IntRange(0, s.Size-1).Draw(t, "root")
		o := execute(t, s, false, func(r int) *Program { return s.Reduce(root, r) })
		holds(t, o, root, 0, s.Bytes, all(s, true))
	})
}

func TestReduceScatterLeavesEachRankItsSegment(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpec(t)
		o := execute(t, s, false, s.ReduceScatter)
		for r := range s.Size {
			holds(t, o, r, s.Cut(r), s.Cut(r+1), all(s, s.Ordered))
		}
	})
}

func TestBroadcastBringsRootsVectorToAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpec(t)
		root := rapid.IntRange(0, s.Size-1).Draw(t, "root")
		o := execute(t, s, true, func(r int) *Program { return s.Broadcast(root, r) })
		for r := range s.Size {
			holds(t, o, r, 0, s.Bytes, of(root))
		}
	})
}

func TestAllGatherBringsAllRecordsToAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpec(t)
		offsets := drawOffsets(t, s)
		o := execute(t, s, true, func(r int) *Program { return s.AllGather(offsets, r) })
		equal := execute(t, s, true, func(r int) *Program { return s.AllGather(nil, r) })
		for r := range s.Size {
			for from := range s.Size {
				holds(t, o, r, offsets[from], offsets[from+1], of(from))
				holds(t, equal, r, s.Cut(from), s.Cut(from+1), of(from))
			}
		}
	})
}

func TestGatherAndScatterMoveRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpec(t)
		offsets := drawOffsets(t, s)
		root := rapid.IntRange(0, s.Size-1).Draw(t, "root")
		gathered := execute(t, s, true, func(r int) *Program { return s.Gather(root, offsets, r) })
		scattered := execute(t, s, true, func(r int) *Program { return s.Scatter(root, offsets, r) })
		for r := range s.Size {
			holds(t, gathered, root, offsets[r], offsets[r+1], of(r))
			holds(t, scattered, r, offsets[r], offsets[r+1], of(root))
		}
	})
}

// Ranks shift their vectors around a ring: all send before all have received.
func TestSendRecvDoesNotDeadlock(t *testing.T) {
	for n := 2; n <= 9; n++ {
		o, err := Execute(programs(n, func(r int) *Program {
			return SendRecv(n, r, (r+1)%n, 4*r, mod(r-1, n), 4*mod(r-1, n))
		}), false)
		if err == nil {
			err = shifted(o, n)
		}
		if err != nil {
			t.Errorf("%d ranks: %v", n, err)
		}
	}
	p := SendRecv(3, 1, None, 0, None, 0)
	if len(p.Steps) != 0 || len(p.Peers) != 0 {
		t.Errorf("a program without peers has steps: %+v", p)
	}
}

func shifted(o *Outcome, n int) error {
	for r := range n {
		from := mod(r-1, n)
		if got := o.At(r); from > 0 && (len(got) != 1 || got[0].Hi != 4*from || got[0].String() != fmt.Sprint(from)) {
			return fmt.Errorf("rank %d holds %v, want the %d bytes of rank %d", r, got, 4*from, from)
		}
	}
	return nil
}

// No rank completes a barrier before all have begun. An all-reduce of an empty
// vector is a barrier, whatever the schedule.
func TestNoRankEndsABarrierBeforeAllBegin(t *testing.T) {
	for n := 2; n <= 33; n++ {
		for _, name := range append([]Name{Auto}, Names...) {
			s := Spec{Size: n, Schedule: name}
			for late := range n {
				m := &machine{programs: programs(n, s.AllReduce)}
				if err := m.match(); err != nil {
					t.Fatal(err)
				}
				m.begin(false)
				m.link()
				for i, rank := range m.owner {
					if int(rank) == late {
						m.waits[m.ends(int32(i))]++
					}
				}
				if err := m.run(); err == nil {
					t.Fatalf("%v of %d ranks: a rank completes without rank %d", name, n, late)
				}
				waits := map[int32]bool{}
				for i, rank := range m.owner {
					if m.waits[m.ends(int32(i))] > 0 {
						waits[rank] = true
					}
				}
				if len(waits) != n {
					t.Fatalf("%v of %d ranks: only %v wait for rank %d", name, n, waits, late)
				}
			}
		}
	}
}
