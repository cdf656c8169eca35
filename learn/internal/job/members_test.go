// SPDX-License-Identifier: Apache-2.0

package job

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/learn/internal/snapshot"
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

// drawMembers returns a job from which ranks were lost at several times.
func drawMembers(t *rapid.T) members {
	r := members{Total: rapid.IntRange(1, 9).Draw(t, "ranks")}
	r.Rank = rapid.IntRange(0, r.Total-1).Draw(t, "rank")
	for i := range r.Total {
		r.Committed = append(r.Committed, []byte{byte(i)})
	}
	for range rapid.IntRange(0, 3).Draw(t, "losses") {
		var live []int
		for i := range r.Size() {
			if rank := r.Number(i); rank == r.Rank || rapid.Bool().Draw(t, "stays") {
				live = append(live, rank)
			}
		}
		if err := r.Without(live); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// However ranks are lost, each rank of the start is remaining or lost, with its record, and
// positions and numbers are inverse to each other.
func TestMembersPartitionTheJob(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawMembers(t)
		records := make([][]byte, r.Total)
		for i := range r.Size() {
			records[r.Number(i)] = r.Committed[i]
		}
		for i, l := range r.Lost {
			if records[l.Rank] != nil || i > 0 && l.Rank <= r.Lost[i-1].Rank {
				t.Fatalf("rank %d is lost twice, or remains: %+v", l.Rank, r)
			}
			records[l.Rank] = l.Record
		}
		for rank, record := range records {
			if len(record) != 1 || int(record[0]) != rank {
				t.Fatalf("the record of rank %d is %v", rank, record)
			}
		}
		if r.Number(r.position()) != r.Rank {
			t.Fatalf("rank %d is at position %d, where rank %d is", r.Rank, r.position(), r.Number(r.position()))
		}
	})
}

// The remaining and the lost ranks survive writing and reading. A reader of a job of another
// size refuses them.
func TestMembersRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawMembers(t)
		w := snapshot.Encode(nil)
		want.code(&w)
		got := members{Rank: want.Rank, Total: want.Total, Live: []int{0}, Lost: []lostRank{{}}}
		r := snapshot.Decode(bytes.Clone(w.Bytes()))
		got.code(&r)
		if err := r.End("members"); err != nil {
			t.Fatal(err)
		}
		got.Committed = want.Committed // not part of the code: Commit copies the records
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(members{}, lostRank{}), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		other := members{Total: want.Total + 1}
		r = snapshot.Decode(w.Bytes())
		if other.code(&r); r.Err() == nil {
			t.Fatal("the ranks of a job of another size were accepted")
		}
	})
}

// Bytes from anywhere give members whose numbers are in range and in order, or an error.
func FuzzMembers(f *testing.F) {
	r := members{Total: 4, Live: []int{1, 3}, Lost: []lostRank{{0, []byte("a")}, {2, nil}}}
	w := snapshot.Encode(nil)
	r.code(&w)
	f.Add(w.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		r := members{Total: 4}
		d := snapshot.Decode(b)
		if r.code(&d); d.Err() != nil {
			return
		}
		for i := range r.Size() {
			if n := r.Number(i); n < 0 || n >= 4 || i > 0 && n <= r.Number(i-1) {
				t.Fatalf("the ranks that are left are %v", r.Live)
			}
		}
		for _, l := range r.Lost {
			if l.Rank < 0 || l.Rank >= 4 {
				t.Fatalf("rank %d of 4 is lost", l.Rank)
			}
		}
	})
}
