// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Excluded and Included divide the ranks of a job, and the bits name the excluded ones.
func TestMembersDivideTheRanks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.IntRange(1, 40).Draw(t, "total")
		excluded := rapid.SliceOfDistinct(rapid.IntRange(0, total-1), rapid.ID).Draw(t, "excluded")
		slices.Sort(excluded)
		m := MembersWithout(excluded)
		if d := cmp.Diff(slices.Clip(append([]int(nil), excluded...)), append([]int(nil), m.Excluded(total)...)); !m.Decided || d != "" {
			t.Fatalf("decided %v, excluded, -want +got:\n%s", m.Decided, d)
		}
		all := append(m.Included(total), m.Excluded(total)...)
		slices.Sort(all)
		for rank := range total {
			if all[rank] != rank || IsMember(m.Included(total), rank) == slices.Contains(excluded, rank) {
				t.Fatalf("rank %d of %v", rank, all)
			}
		}
	})
}

// Bits of any length name no rank outside of the job.
func TestMembersOfAnyBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := Members{Decided: true, ExcludedBits: string(rapid.SliceOfN(rapid.Byte(), 0, 6).Draw(t, "bits"))}
		total := rapid.IntRange(1, 40).Draw(t, "total")
		if in, out := m.Included(total), m.Excluded(total); len(in)+len(out) != total || slices.Max(append(in, out...)) != total-1 {
			t.Fatalf("%d ranks: %v and %v", total, in, out)
		}
	})
}

func TestCheckElastic(t *testing.T) {
	for _, c := range []struct {
		policy OnLoss
		runKey string
		want   []string // fields of the faults
	}{
		{Abort, "", []string{"OnLoss", "Job.RunKey"}},
		{Abort, "run", []string{"OnLoss"}},
		{Wait, "", []string{"Job.RunKey"}},
		{Wait, "run", nil},
		{Shrink, "run", nil},
		{Grow, "run", nil},
		{Open, "run", nil},
	} {
		var got []string
		for _, e := range CheckElastic(c.policy, c.runKey) {
			got = append(got, e.Field)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%v, run key %q, -want +got:\n%s", c.policy, c.runKey, d)
		}
	}
}

// Equal options do not differ, and each of two texts that differ names what the other one lacks.
func TestDiffOptions(t *testing.T) {
	for _, c := range []struct{ mine, theirs, want string }{
		{"bits=18 loss=logistic", "loss=logistic bits=18", "the same options in another order or spacing"},
		{"bits=18", "bits=20", "bits=18 here, bits=20 there"},
		{"bits=18 l1=0.1", "bits=18", "l1=0.1 is given only here"},
		{"bits=18", "bits=18 l1=0.1", "l1=0.1 is missing here"},
		{"q=ab q=ac", "q=ab", "q=ab q=ac here, q=ab there"},
		{"a=1 b=1 c=1 d=1 e=1 f=1", "", "a=1 is given only here; b=1 is given only here; c=1 is given only here; d=1 is given only here; e=1 is given only here; and 1 more"},
	} {
		if got := DiffOptions(c.mine, c.theirs); got != c.want {
			t.Errorf("%q and %q: %q, want %q", c.mine, c.theirs, got, c.want)
		}
	}
}

// FuzzRecord checks that decoding accepts any bytes without a panic, and that a decoded record is
// encoded to the same bytes again.
func FuzzRecord(f *testing.F) {
	for _, r := range []Record{
		&TermRecord{Term: 3},
		&DeliveredRecord{RunKey: "run", File: DeliveredFile{Rank: 1, File: "model"}},
		&FinishedRecord{Job: Job{UniqueID: 7, RunKey: "run"}, Total: 4, Files: []DeliveredFile{{Rank: -1, File: "m"}}},
	} {
		b, err := AppendRecord(nil, r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(b[:len(b)-1])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := DecodeRecord(b)
		if err != nil {
			return
		}
		again, err := AppendRecord(nil, r)
		if d := cmp.Diff(b, again); err != nil || d != "" {
			t.Errorf("%v, -first +second:\n%s", err, d)
		}
	})
}
