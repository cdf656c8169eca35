// SPDX-License-Identifier: Apache-2.0

package ranklog

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Limits bound a Store, in bytes.
type Limits struct {
	// Rank limits the lines of a rank; 0: 64 KiB.
	Rank int
	// Job limits the lines of a job, in equal parts for its ranks: a rank with many lines displaces none of another. 0: 16 MiB.
	Job int
	// Total limits the lines of all jobs; 0: 64 MiB. At the limit the store drops the job that has had no new line for the
	// longest time.
	Total int
}

// keptBytes is the memory of a line in addition to its text.
const keptBytes = 32

// Store keeps the newest lines of the ranks of jobs. J identifies a job. The zero value is ready for use.
type Store[J comparable] struct {
	Limits
	jobs  map[J]*jobLog
	bytes int
}

// jobLog has the lines of one job.
type jobLog struct {
	total  int
	ranks  map[int]*rankLog
	bytes  int
	newest time.Time // of its lines
}

// rankLog has the lines of one rank, of all its attempts.
type rankLog struct {
	lines   []string // oldest first
	bytes   int
	older   uint64 // lines that were dropped here
	lost    uint64 // lines that its attempts have dropped
	attempt uint64 // of the newest line
	dropped uint64 // by that attempt
}

// RankLog is the end of the log of a rank.
type RankLog struct {
	Rank    int      `json:"rank"`
	Older   uint64   `json:"older,omitempty"`   // lines before these that the server has dropped
	Dropped uint64   `json:"dropped,omitempty"` // lines that the rank has dropped, since it may not send more
	Lines   []string `json:"lines"`             // oldest first
}

// Add adds the lines of an attempt of a rank. host names its machine in the line that separates attempts.
func (s *Store[J]) Add(job J, total, rank int, attempt uint64, host string, b Batch, now time.Time) {
	if s.jobs == nil {
		s.jobs = map[J]*jobLog{}
	}
	j := s.jobs[job]
	if j != nil && j.total != total {
		s.drop(job) // another job with the same name
		j = nil
	}
	if j == nil {
		j = &jobLog{total: total, ranks: map[int]*rankLog{}}
		s.jobs[job] = j
	}
	r := j.ranks[rank]
	if r == nil {
		r = &rankLog{attempt: attempt}
		j.ranks[rank] = r
	}
	j.newest = now
	before := r.bytes
	share := min(cmp.Or(s.Rank, 64<<10), cmp.Or(s.Job, 16<<20)/max(1, total))
	if attempt != r.attempt {
		r.add(printable(fmt.Sprintf("(another attempt of the rank, on %s)", host)), share)
		r.attempt, r.dropped = attempt, 0
	}
	if n := b.Dropped - r.dropped; b.Dropped > r.dropped {
		r.lost += n
		r.dropped = b.Dropped
		r.add(fmt.Sprintf("(%d lines were dropped by the rank)", n), share)
	}
	for _, line := range b.Lines {
		r.add(printable(line), share)
	}
	j.bytes += r.bytes - before
	s.bytes += r.bytes - before
	for s.bytes > cmp.Or(s.Total, 64<<20) && len(s.jobs) > 1 {
		s.drop(s.oldest(job))
	}
}

// add adds a line, and drops the oldest ones beyond the share of the rank. A line that has no room at all is dropped.
func (r *rankLog) add(line string, share int) {
	r.lines = append(r.lines, line)
	for r.bytes += keptBytes + len(line); r.bytes > share; r.older++ {
		r.bytes -= keptBytes + len(r.lines[0])
		r.lines[0] = ""
		r.lines = r.lines[1:]
	}
}

// oldest returns the job, other than one, that has had no new line for the longest time.
func (s *Store[J]) oldest(but J) (job J) {
	var at time.Time
	for id, j := range s.jobs {
		if id != but && (at.IsZero() || j.newest.Before(at)) {
			job, at = id, j.newest
		}
	}
	return job
}

// drop forgets a job.
func (s *Store[J]) drop(job J) {
	s.bytes -= s.jobs[job].bytes
	delete(s.jobs, job)
}

// Expire forgets the jobs that have had no new lines for longer than age.
func (s *Store[J]) Expire(now time.Time, age time.Duration) {
	for id, j := range s.jobs {
		if now.Sub(j.newest) > age {
			s.drop(id)
		}
	}
}

// Bytes returns the memory of all lines.
func (s *Store[J]) Bytes() int { return s.bytes }

// Tail returns the last lines of a rank, at most n. ok is false if there are none.
func (s *Store[J]) Tail(job J, rank, n int) (log RankLog, ok bool) {
	j := s.jobs[job]
	if j == nil || j.ranks[rank] == nil {
		return log, false
	}
	r := j.ranks[rank]
	cut := max(0, len(r.lines)-n)
	return RankLog{Rank: rank, Older: r.older + uint64(cut), Dropped: r.lost, Lines: slices.Clone(r.lines[cut:])}, true
}

// Tails returns the last lines of all ranks of a job that have sent some, at most n of each. The lines have at most size bytes
// in all. Each rank has an equal part of them; the ranks after it share what it does not use.
func (s *Store[J]) Tails(job J, n, size int) []RankLog {
	j := s.jobs[job]
	if j == nil {
		return nil
	}
	all := slices.Sorted(maps.Keys(j.ranks))
	var out []RankLog
	for i, rank := range all {
		log, _ := s.Tail(job, rank, n)
		part := size / (len(all) - i)
		used, first := 0, len(log.Lines)
		for ; first > 0; first-- {
			if b := keptBytes + len(log.Lines[first-1]); used+b > part {
				break
			} else {
				used += b
			}
		}
		log.Older += uint64(first)
		log.Lines = log.Lines[first:]
		size -= used
		out = append(out, log)
	}
	return out
}
