// SPDX-License-Identifier: Apache-2.0

package ranklog

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gvw-project/gvw/internal/logformat"
)

// Bounds of a message to the server.
const (
	// BatchBytes is the greatest size of a batch in bytes, with LineBytes for each line. A server that does not know these
	// messages skips them up to this size.
	BatchBytes = 4<<10 - 16
	// LineBytes is the size of a line in addition to its text.
	LineBytes = 4
	// MaxLines is the number of lines in a batch.
	MaxLines = BatchBytes / LineBytes
)

// Defaults of a Queue.
const (
	defaultBytes = 64 << 10
	defaultRate  = 200
	defaultBurst = 1000
	// jobRate is the number of lines that all ranks of a job may send in a second, unless Rate is set.
	jobRate = 20_000
)

// Queue holds the lines of a rank that have not been sent to the server. The zero value is ready for use. Its fields are not changed
// after the first line.
type Queue struct {
	// JSON makes the records of Record objects of JSON; false: text.
	JSON bool
	// Bytes limits the lines that wait, in bytes; 0: 64 KiB. The oldest are then dropped.
	Bytes int
	// Rate limits the lines that are sent in a second, in the mean; 0: 200, and at most 20,000 of all ranks of the job. More
	// lines wait.
	Rate int
	// Burst limits the lines that are sent at once after a pause; 0: 1000.
	Burst int

	mu      sync.Mutex
	lines   []string // oldest first
	bytes   int
	dropped uint64    // lines so far
	tokens  float64   // lines that may be sent now
	at      time.Time // of tokens; zero: Burst lines may be sent
	ranks   int       // of the job; 0: unknown
	wake    chan struct{}
}

// Batch is a number of lines that are sent together.
type Batch struct {
	Dropped uint64   // lines that the rank has dropped so far, all of them before Lines
	Lines   []string // oldest first
}

// Write adds lines. It always succeeds, and returns at once.
func (q *Queue) Write(b []byte) (int, error) {
	if q == nil {
		return len(b), nil
	}
	for line := range strings.Lines(string(b)) {
		q.add(Clean(strings.TrimRight(line, "\r\n")))
	}
	return len(b), nil
}

// Record adds a record of its own, in the form of the other lines.
func (q *Queue) Record(level slog.Level, text string, attrs ...slog.Attr) {
	if q == nil {
		return
	}
	form := logformat.Text
	if q.JSON {
		form = logformat.JSON
	}
	slog.New(logformat.New(q, form, nil)).LogAttrs(context.Background(), level, text, attrs...)
}

// add adds a line, and drops the oldest ones if it has no room.
func (q *Queue) add(line string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lines = append(q.lines, line)
	q.bytes += LineBytes + len(line)
	q.shrink()
	select {
	case q.waker() <- struct{}{}:
	default:
	}
}

// shrink drops the oldest lines beyond the limit. The caller holds the lock.
func (q *Queue) shrink() {
	for q.bytes > orDefault(q.Bytes, defaultBytes) {
		q.bytes -= LineBytes + len(q.lines[0])
		q.lines = q.lines[1:]
		q.dropped++
	}
}

// SetRanks sets the number of ranks of the job, which share its rate.
func (q *Queue) SetRanks(n int) {
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ranks = n
}

// waker returns the channel of Wake. The caller holds the lock.
func (q *Queue) waker() chan struct{} {
	if q.wake == nil {
		q.wake = make(chan struct{}, 1)
	}
	return q.wake
}

// Wake returns a channel that has a value after lines have been added.
func (q *Queue) Wake() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.waker()
}

// Take removes and returns the oldest lines, at most as many as fit into a message. If it returns none, wait is the time until
// the rate permits some; 0: the queue is empty. urgent ignores the rate: the rank is about to end.
func (q *Queue) Take(now time.Time, urgent bool) (b Batch, wait time.Duration) {
	if q == nil {
		return b, 0
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	b.Dropped = q.dropped
	if len(q.lines) == 0 {
		return b, 0
	}
	rate := float64(orDefault(q.Rate, min(defaultRate, max(1, jobRate/max(1, q.ranks)))))
	burst := float64(orDefault(q.Burst, defaultBurst))
	if q.at.IsZero() {
		q.tokens = burst
	} else {
		q.tokens = min(burst, q.tokens+float64(rate*max(0, now.Sub(q.at).Seconds())))
	}
	q.at = now
	if q.tokens < 1 && !urgent {
		return b, max(time.Millisecond, time.Duration((1-q.tokens)/rate*float64(time.Second)))
	}
	n := 0
	for size := 0; n < min(len(q.lines), MaxLines) && (urgent || q.tokens >= 1); n++ {
		if size += LineBytes + len(q.lines[n]); size > BatchBytes {
			break
		}
		q.bytes -= LineBytes + len(q.lines[n])
		q.tokens--
	}
	q.tokens = max(0, q.tokens)
	b.Lines = slices.Clone(q.lines[:n])
	if q.lines = q.lines[n:]; len(q.lines) == 0 {
		q.lines = nil
	}
	return b, 0
}

// PutBack returns lines that could not be sent to the front of the queue.
func (q *Queue) PutBack(b Batch) {
	if len(b.Lines) == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, line := range b.Lines {
		q.bytes += LineBytes + len(line)
	}
	q.lines = append(b.Lines[:len(b.Lines):len(b.Lines)], q.lines...)
	q.shrink()
}

// Dropped returns the number of lines that have been dropped.
func (q *Queue) Dropped() uint64 {
	if q == nil {
		return 0
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped
}

func orDefault(v, def int) int {
	if v == 0 {
		return def
	}
	return v
}
