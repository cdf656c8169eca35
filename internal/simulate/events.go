// SPDX-License-Identifier: Apache-2.0

package simulate

import "time"

// kind is what happens in an event.
type kind uint8

const (
	rankEnters    kind = iota // a: rank
	partWritten               // a: flow. The sender has copied the part to its connection.
	partJoined                // a: flow. The receiver has read the part, and added it to its vector.
	segmentAtLink             // a: flow, b: hop. The head of a segment has reached the link.
	segmentServed             // a: flow, b: hop. The tail of a segment has left the link.
)

// event is something that happens at a time. Events of the same time happen in the order in which they were added.
type event struct {
	at   time.Duration
	seq  uint64
	kind kind
	a, b int32
}

func (e *event) before(f *event) bool { return e.at < f.at || e.at == f.at && e.seq < f.seq }

// agenda is the queue of the coming events, a binary heap. container/heap would allocate for each event.
type agenda struct {
	now   time.Duration
	heap  []event
	added uint64
}

// add adds an event, which must not be in the past.
func (q *agenda) add(at time.Duration, k kind, a, b int32) {
	q.added++
	q.heap = append(q.heap, event{at, q.added, k, a, b})
	i := len(q.heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !q.heap[i].before(&q.heap[up]) {
			break
		}
		q.heap[i], q.heap[up] = q.heap[up], q.heap[i]
		i = up
	}
}

// next removes the first event and moves the clock to it. It reports false if there is none.
func (q *agenda) next() (event, bool) {
	if len(q.heap) == 0 {
		return event{}, false
	}
	first, n := q.heap[0], len(q.heap)-1
	q.heap[0] = q.heap[n]
	q.heap = q.heap[:n]
	for i := 0; ; {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < n; c++ {
			if q.heap[c].before(&q.heap[least]) {
				least = c
			}
		}
		if least == i {
			break
		}
		q.heap[i], q.heap[least] = q.heap[least], q.heap[i]
		i = least
	}
	q.now = first.at
	return first, true
}
