// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync/atomic"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/stream"
)

// Lot is a batch of examples that one of several goroutines processes.
type Lot struct {
	Batch *feature.Batch
	// Held reports for each example of the pass whether it is held out. The examples of the batch behind these are no part
	// of the pass.
	Held []bool
	// Scores has an element for each element of Held. The goroutine sets them, and book reads them.
	Scores []Score

	left atomic.Int32  // calls of Done that are missing
	done chan struct{} // capacity 1
}

// Score is what a learner returns for an example.
type Score struct{ Raw, Clipped, Loss float32 }

// Split lets n goroutines call Done. start calls it before it hands the lot to the first of them.
func (l *Lot) Split(n int) { l.left.Store(int32(n)) }

// Done reports that the goroutine does not use the lot any more. It must be called once, or as often as Split has set.
func (l *Lot) Done() {
	if l.left.Add(-1) == 0 {
		l.done <- struct{}{}
	}
}

// Lots makes a pass whose batches are processed by several goroutines. start hands a lot to one of them and must not
// wait for it. When the lot is done, book gets its examples one by one in the order of the data, on the caller's
// goroutine, as the visit of Pass does. At most ahead lots are under way. Passes in another order than that of the data
// and Guard are not supported.
func (r *Reader) Lots(ctx context.Context, ahead int, start func(*Lot), book func(l *Lot, i int) error) (err error) {
	p, err := r.begin(ctx)
	if err != nil {
		return err
	}
	r.Place, r.Nth, r.Shuffled = 0, 0, false
	q := lots{reader: r, pass: p, book: book}
	defer func() {
		for len(q.queue) > 0 { // after an error: batches must not be in use when the pass is closed
			<-q.take().done
		}
		err = errors.Join(err, p.Close())
	}()
	p.Idle = func() error { // results of all earlier examples appear before the pass waits for input
		if err := q.finish(0); err != nil || r.Flush == nil {
			return err
		}
		return r.Flush()
	}
	for place := 0; r.Limit == 0 || place < r.Limit || p.MakesCache(); {
		b, err := r.next(p)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		r.warn(b)
		l := q.lot(b)
		l.Split(1)
		for i := range b.Examples {
			place += int(b.Examples[i].Before) + 1
			if r.Limit == 0 || place <= r.Limit {
				l.Held = append(l.Held, r.Holdout.Holds(place))
			}
		}
		l.Scores = slices.Grow(l.Scores[:0], len(l.Held))[:len(l.Held)]
		clear(l.Scores)
		start(l)
		q.queue = append(q.queue, l) // after a panic of start no goroutine is done with the lot
		if err := q.finish(ahead - 1); err != nil {
			return err
		}
	}
	if err := q.finish(0); err != nil {
		return err
	}
	r.perPass = r.Nth
	return nil
}

// lots are the lots of a pass under way.
type lots struct {
	reader *Reader
	pass   *stream.Pass
	book   func(l *Lot, i int) error
	queue  []*Lot // under way, in the order of the data
	free   []*Lot
}

// lot returns a lot of batch b without Held.
func (q *lots) lot(b *feature.Batch) *Lot {
	if n := len(q.free); n > 0 {
		l := q.free[n-1]
		q.free = q.free[:n-1]
		l.Batch, l.Held = b, l.Held[:0]
		return l
	}
	return &Lot{Batch: b, done: make(chan struct{}, 1)}
}

// take removes the oldest lot.
func (q *lots) take() *Lot {
	l := q.queue[0]
	q.queue = append(q.queue[:0], q.queue[1:]...)
	return l
}

// finish waits for lots, the oldest first, until at most n are under way, and books them. A lot ends by itself: its
// goroutine only computes.
func (q *lots) finish(n int) error {
	r := q.reader
	for len(q.queue) > n {
		l := q.take()
		<-l.done
		for i := range l.Held {
			r.Place += int(l.Batch.Examples[i].Before) + 1
			r.Nth++
			if err := q.book(l, i); err != nil {
				return err
			}
		}
		for _, ex := range l.Batch.Examples[len(l.Held):] { // behind the limit
			r.Place += int(ex.Before) + 1
		}
		q.pass.Recycle(l.Batch)
		q.free = append(q.free, l)
		r.report(r.Nth)
	}
	return nil
}
