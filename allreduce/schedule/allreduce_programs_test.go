// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// programs returns the programs of all ranks.
func programs(n int, make func(rank int) *Program) []*Program {
	all := []*Program{}
	for r := range n {
		all = append(all, make(r))
	}
	return all
}

// sizes returns lengths in bytes of vectors of 4-byte elements: none, one, and
// fewer than ranks, not divisible, several chunks of 64 bytes.
func sizes(n int) []int {
	return []int{0, 4, []int{4 * (n - 1), 4 * (7*n + 3), 4096}[n%3]}
}

// For each N, all ranks end with each contribution exactly once, added as Sums
// describes, without buffers between the ranks.
func TestAllReducesSumEverythingOnce(t *testing.T) {
	for _, name := range Names {
		t.Run(name.String(), func(t *testing.T) {
			t.Parallel()
			if testing.Short() {
				t.Log("sampled: one in nine sizes above 20")
			}
			for n := 1; n <= 130; n++ {
				if testing.Short() && n > 20 && n%9 != 1 {
					continue
				}
				lengths := sizes(n)
				if name == Direct { // with one owner, with some, with all
					lengths = append(lengths, 2*directSegment+8, n*directSegment+4)
				}
				for _, bytes := range lengths {
					s := Spec{Schedule: name, Size: n, Bytes: bytes, Elem: 4, Chunk: 64}
					if err := sumsOnce(s); err != nil {
						t.Fatalf("%d ranks, %d bytes: %v", n, bytes, err)
					}
				}
			}
		})
	}
}

func sumsOnce(s Spec) error {
	o, err := Execute(programs(s.Size, s.AllReduce), s.Size == 1)
	if err != nil {
		return err
	}
	if !o.Agree() {
		return fmt.Errorf("ranks 0 and %d differ: %v, %v", s.Size-1, o.At(0), o.At(s.Size-1))
	}
	at := 0
	sums := o.At(0)
	for _, x := range sums {
		if x.Lo != at {
			return fmt.Errorf("no sum covers bytes %d to %d", at, x.Lo)
		}
		at = x.Hi
		if err := everyRankOnce(s, x); err != nil {
			return err
		}
	}
	if at != s.Bytes {
		return fmt.Errorf("no sum covers bytes %d to %d", at, s.Bytes)
	}
	want := s.Sums()
	if !slices.EqualFunc(sums, want, Sum.equal) { // cmp is slow
		return fmt.Errorf("Sums() differs from the outcome of the programs, -programs +Sums:\n%s", cmp.Diff(sums, want))
	}
	return nil
}

func everyRankOnce(s Spec, x Sum) error {
	var ranks []int
	seen := make([]bool, s.Size)
	for _, r := range x.Expr {
		if r == Join {
			continue
		}
		if seen[r] {
			return fmt.Errorf("bytes %d to %d have rank %d twice: %v", x.Lo, x.Hi, r, x)
		}
		seen[r] = true
		ranks = append(ranks, int(r))
	}
	if len(ranks) != s.Size {
		return fmt.Errorf("bytes %d to %d have %d of %d ranks: %v", x.Lo, x.Hi, len(ranks), s.Size, x)
	}
	for i, r := range ranks {
		if s.Schedule.Ordered() && r != i {
			return fmt.Errorf("bytes %d to %d are not in the order of the ranks: %v", x.Lo, x.Hi, x)
		}
	}
	return nil
}
