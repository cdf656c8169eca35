// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What cannot be left is refused.
func TestRanksThatCannotBeLeft(t *testing.T) {
	for _, live := range [][]int{{0, 1}, {2, 0}, {0, 2, 3}, {2, 2}, nil} {
		r := ranks{rank: 2, total: 3}
		if err := r.without(live); err == nil {
			t.Errorf("ranks %v were left for rank 2 of 3", live)
		}
	}
	r := ranks{rank: 2, total: 4, kept: [][]byte{{0}, {1}, {2}, {3}}}
	if err := errors.Join(r.without([]int{1, 2, 3}), r.without([]int{2, 3})); err != nil {
		t.Fatal(err)
	}
	want := []lostRank{{0, []byte{0}}, {1, []byte{1}}}
	if diff := cmp.Diff(want, r.lost, cmp.AllowUnexported(lostRank{})); diff != "" || r.position() != 0 || r.size() != 2 || r.number(1) != 3 {
		t.Errorf("lost %v, position %d of %d: %s", r.lost, r.position(), r.size(), diff)
	}
	if err := r.without([]int{1, 2}); err == nil {
		t.Error("a lost rank came back")
	}
}
