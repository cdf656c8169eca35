// SPDX-License-Identifier: Apache-2.0

package ranklog

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func lines(s ...string) Batch { return Batch{Lines: s} }

func TestStoreKeepsTheNewestLinesOfEachRank(t *testing.T) {
	s := Store[int]{Limits: Limits{Rank: 4 * (keptBytes + 1)}}
	now := time.Now()
	s.Add(7, 2, 0, 1, "h", lines("a", "b", "c"), now)
	s.Add(7, 2, 0, 1, "h", lines("d", "e", "f"), now)
	s.Add(7, 2, 1, 1, "h", lines("x"), now)
	got, ok := s.Tail(7, 0, 3)
	if d := cmp.Diff(RankLog{Rank: 0, Older: 3, Lines: []string{"d", "e", "f"}}, got); !ok || d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	want := []RankLog{{Rank: 0, Older: 2, Lines: []string{"c", "d", "e", "f"}}, {Rank: 1, Lines: []string{"x"}}}
	if d := cmp.Diff(want, s.Tails(7, 9, 1<<20)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if _, ok := s.Tail(7, 2, 9); ok || s.Tails(8, 9, 1<<20) != nil {
		t.Error("got lines of a rank and a job that have sent none")
	}
}

func TestStoreShowsDroppedLinesAndAttempts(t *testing.T) {
	s := Store[int]{}
	now := time.Now()
	s.Add(7, 2, 0, 1, "h1", Batch{Dropped: 3, Lines: []string{"a"}}, now)
	s.Add(7, 2, 0, 1, "h1", Batch{Dropped: 3, Lines: []string{"b"}}, now)
	s.Add(7, 2, 0, 2, "h\x1b2", Batch{Dropped: 2, Lines: []string{"c\x1b[2J"}}, now)
	got, _ := s.Tail(7, 0, 100)
	want := RankLog{Dropped: 5, Lines: []string{"(3 lines were dropped by the rank)", "a", "b", `(another attempt of the rank, on h\x1b2)`, "(2 lines were dropped by the rank)", `c\x1b[2J`}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestStoreForgetsTheJobThatHasBeenSilent(t *testing.T) {
	s := Store[int]{Limits: Limits{Total: 3000, Job: 2000, Rank: 2000}}
	at := time.Now()
	long := strings.Repeat("x", 900)
	for job := range 3 {
		s.Add(job, 1, 0, 1, "h", lines(long), at.Add(time.Duration(job)*time.Second))
	}
	s.Add(0, 1, 0, 1, "h", lines(long), at.Add(time.Minute))
	for job, want := range []bool{true, false, true} {
		if _, ok := s.Tail(job, 0, 1); ok != want {
			t.Errorf("job %d: kept %v, want %v", job, ok, want)
		}
	}
	s.Add(2, 5, 0, 1, "h", lines("new"), at.Add(time.Minute)) // another job of that name
	if got, _ := s.Tail(2, 0, 9); len(got.Lines) != 1 {
		t.Errorf("the lines of a job with another total remain: %q", got.Lines)
	}
	if s.Expire(at.Add(time.Hour), time.Minute); s.Bytes() != 0 {
		t.Errorf("%d bytes remain after their age", s.Bytes())
	}
}

// The bytes stay within all limits, whatever ranks send, and each line is kept or counted.
func TestStoreIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const ranks = 4
		s := Store[int]{Limits: Limits{Rank: rapid.IntRange(40, 3000).Draw(t, "rank"), Job: rapid.IntRange(400, 6000).Draw(t, "job"), Total: 8000}}
		now := time.Now()
		for i := range rapid.IntRange(1, 60).Draw(t, "batches") {
			job, rank := rapid.IntRange(0, 3).Draw(t, "job"), rapid.IntRange(0, ranks-1).Draw(t, "rank")
			var b Batch
			for range rapid.IntRange(0, 6).Draw(t, "lines") {
				b.Lines = append(b.Lines, strings.Repeat("\x1b", rapid.IntRange(0, 2000).Draw(t, "size")))
			}
			s.Add(job, ranks, rank, 1, "h", b, now.Add(time.Duration(i)))
			sum := 0
			for id, j := range s.jobs {
				of := 0
				for n, r := range j.ranks {
					kept := 0
					for _, line := range r.lines {
						kept += keptBytes + len(line)
					}
					if kept != r.bytes || kept > s.Rank || kept > s.Job/ranks {
						t.Fatalf("job %d rank %d has %d bytes, and %d are counted", id, n, kept, r.bytes)
					}
					of += kept
				}
				if of != j.bytes || of > s.Job {
					t.Fatalf("job %d has %d bytes, and %d are counted", id, of, j.bytes)
				}
				sum += of
			}
			if sum != s.Bytes() || sum > s.Total {
				t.Fatalf("all jobs have %d bytes, and %d are counted", sum, s.Bytes())
			}
			size := rapid.IntRange(0, 5000).Draw(t, "size")
			total := 0
			for _, log := range s.Tails(job, 10, size) {
				for _, line := range log.Lines {
					total += keptBytes + len(line)
				}
			}
			if total > size {
				t.Fatalf("the tails have %d bytes, want at most %d", total, size)
			}
		}
	})
}

func ExampleStore() {
	q := new(Queue)
	fmt.Fprintln(q, "level=INFO msg=joined")
	fmt.Fprintln(q, "level=ERROR msg=\"no label\"")
	b, _ := q.Take(time.Now(), false)

	var s Store[string]
	s.Add("job 7", 4, 3, 1, "h3", b, time.Now())
	log, _ := s.Tail("job 7", 3, 1)
	fmt.Println(log.Older, log.Lines)
	// Output: 1 [level=ERROR msg="no label"]
}
