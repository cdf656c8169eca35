// SPDX-License-Identifier: Apache-2.0

package job

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/learn/internal/snapshot"
)

// encoded returns the record of a rank that has seen so many examples.
func encoded(examples uint64, passLoss float64) []byte {
	var r Record
	r.Stats.Examples = examples
	r.Stats.Holdout.Loss, r.Stats.Holdout.PassLoss = passLoss, passLoss
	return r.appendTo(nil)
}

// The sums of the job keep what a lost rank has done, except its part of the current pass.
func TestMergeKeepsLostRanks(t *testing.T) {
	j := &Job{members: members{Rank: 1, Total: 3, Committed: [][]byte{encoded(1, 8), encoded(10, 16), encoded(100, 32)}}}
	if err := j.Without([]int{1, 2}); err != nil {
		t.Fatal(err)
	}
	j.Rollback()
	if err := j.Merge(); err != nil {
		t.Fatal(err)
	}
	h := j.All.Stats.Holdout
	if j.All.Stats.Examples != 111 || h.Loss != 56 || h.PassLoss != 48 {
		t.Errorf("got %d examples, holdout loss %v, of the pass %v; want 111, 56, 48", j.All.Stats.Examples, h.Loss, h.PassLoss)
	}
	j.gathered = j.gathered[:1]
	if err := j.Merge(); err == nil {
		t.Error("the record of one rank of two was accepted")
	}
}

// The sums of the job have the same bits however early a rank was lost, if it has the same
// record: they are added in the order of the ranks of the start.
func TestMergeOrderIsThatOfTheStart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMembers(t)
		j := &Job{members: m}
		records := make([]Record, m.Total)
		encodings := make([][]byte, m.Total)
		for rank := range records {
			records[rank] = drawRecord(t)
			encodings[rank] = records[rank].appendTo(nil)
		}
		for i := range j.Lost {
			j.Lost[i].Record = encodings[j.Lost[i].Rank]
			h := &records[j.Lost[i].Rank].Stats.Holdout
			h.PassLoss, h.PassWeight = 0, 0 // the interrupted pass does not count
		}
		for i := range j.Size() {
			j.gathered = append(j.gathered, encodings[j.Number(i)])
		}
		if err := j.Merge(); err != nil {
			t.Fatal(err)
		}
		want := records[0]
		for _, r := range records[1:] {
			want.merge(&r)
		}
		if diff := cmp.Diff(want, j.All); diff != "" {
			t.Fatalf("lost %v (-want +got):\n%s", j.Lost, diff)
		}
	})
}

// Rollback restores the records of the last commit, whatever the interrupted step has gathered.
func TestRollbackRestoresTheCommit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) [][]byte {
			return rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 1, 4), 1, 4).Draw(t, name)
		}
		j := &Job{}
		j.gathered = draw("first step")
		j.Commit()
		j.gathered = draw("second step")
		want := j.gathered
		j.Commit()
		j.gathered = append([][]byte(nil), draw("interrupted step")...)
		j.Rollback()
		if diff := cmp.Diff(want, j.gathered); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		// The committed records are copies: the next exchange overwrites gathered in place.
		j.gathered[0][0]++
		if committed := j.Committed[0][0]; committed == j.gathered[0][0] {
			t.Fatal("a commit shares the memory of the exchange")
		}
	})
}

// A record that is longer than one call carries is gathered in pieces, and is the same
// afterwards.
func TestGatherInPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const total = 3
		n := rapid.IntRange(0, 3*allreduce.MaxRecord+1).Draw(t, "bytes")
		j := &Job{members: members{Total: total}}
		own := bytes.Repeat([]byte{7}, n)
		calls := 0
		err := j.gather(own, func(dst [][]byte, src []byte) ([][]byte, error) {
			calls++
			dst = dst[:0]
			for rank := range total {
				piece := bytes.Clone(src)
				for i := range piece {
					piece[i] += byte(rank)
				}
				dst = append(dst, piece)
			}
			return dst, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for rank, b := range j.gathered {
			if !bytes.Equal(b, bytes.Repeat([]byte{7 + byte(rank)}, n)) {
				t.Errorf("rank %d: got %d bytes, want %d of its own", rank, len(b), n)
			}
		}
		if want := max(1, (n+allreduce.MaxRecord-1)/allreduce.MaxRecord); calls != want || len(j.gathered) != total {
			t.Errorf("%d calls for %d ranks, want %d for %d", calls, len(j.gathered), want, total)
		}
	})
}

// A replacement reads the fields that its predecessor has coded behind the record.
func TestAdoptReadsTheOwnPart(t *testing.T) {
	mark := 5
	j := &Job{members: members{Rank: 0, Total: 1}, Own: func(c *snapshot.Coder) { c.Number("mark", &mark, 9) }}
	var r Record
	r.Nsx = 2.5
	j.gathered = [][]byte{bytes.Clone(j.encode(r))}
	mark = 0
	got, err := j.Adopt()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, *got); diff != "" || mark != 5 {
		t.Errorf("mark %d, want 5; record (-want +got):\n%s", mark, diff)
	}
	j.gathered[0] = append(j.gathered[0], 1)
	if _, err := j.Adopt(); err == nil {
		t.Error("a record with a byte too many was accepted")
	}
}
