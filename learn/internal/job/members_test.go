// SPDX-License-Identifier: Apache-2.0

package job

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Lists that are not remaining ranks in order are refused.
func TestRanksThatCannotBeLeft(t *testing.T) {
	for _, live := range [][]int{{0, 1}, {2, 0}, {0, 2, 3}, {2, 2}, nil} {
		r := members{Rank: 2, Total: 3}
		if err := r.Without(live); err == nil {
			t.Errorf("ranks %v were left for rank 2 of 3", live)
		}
	}
	r := members{Rank: 2, Total: 4, Committed: [][]byte{{0}, {1}, {2}, {3}}}
	if err := errors.Join(r.Without([]int{1, 2, 3}), r.Without([]int{2, 3})); err != nil {
		t.Fatal(err)
	}
	want := []lostRank{{0, []byte{0}}, {1, []byte{1}}}
	if diff := cmp.Diff(want, r.Lost, cmp.AllowUnexported(lostRank{})); diff != "" || r.position() != 0 || r.Size() != 2 || r.Number(1) != 3 {
		t.Errorf("lost %v, position %d of %d: %s", r.Lost, r.position(), r.Size(), diff)
	}
	if err := r.Without([]int{1, 2}); err == nil {
		t.Error("a lost rank came back")
	}
}
