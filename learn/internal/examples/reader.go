// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/stream"
)

// Reader makes the passes over the shard of this rank. It decides which examples a pass has,
// which of them are held out, and in which order they come. The visit decides what happens to
// an example.
type Reader struct {
	Data    *stream.Dataset
	Name    string // of the data, for messages
	Holdout HoldoutSet
	Limit   int            // examples per pass; 0: all
	Shuffle *ShuffleConfig // for passes after the first; nil: in the order of the data
	Log     *slog.Logger   // gets the warnings of the parser
	// Flush is called before a pass waits for more input, so that the results of earlier
	// examples appear.
	Flush func() error
	Watch func(read, of int) // gets the examples read and those of a pass (0: not known yet); nil: no call

	// Waited adds up the nanoseconds in which passes wait for examples; nil: they are not measured.
	Waited *atomic.Int64

	// Translate returns the batch that Pass visits instead of one that it has read, until the next one; nil: the same. It
	// cannot be set with Shuffle.
	Translate func(*feature.Batch) *feature.Batch

	// Guard is held while a pass learns, and not while it reads; nil: no lock.
	Guard sync.Locker

	Nth      int  // number of the current example in its pass
	Place    int  // the same with empty lines counted, as vw does
	perPass  int  // examples of this rank per pass; 0: not known yet
	Shuffled bool // the current pass is shuffled
}

// Visit processes one example, which it may use only during the call. held reports that the
// example is held out: it is predicted and not learned from.
type Visit func(b *feature.Batch, ex *feature.Example, held bool) error

// Pass reads the shard once and calls f for each example. nth counts the passes of the
// training from 0. The first one is never shuffled, since it makes the cache and its
// losses are those of the data's order.
func (r *Reader) Pass(ctx context.Context, nth int, f Visit) (err error) {
	p, err := r.begin(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	var w *window
	if r.Shuffled = r.Shuffle != nil && nth > 0; r.Shuffled {
		w = r.Shuffle.window(nth)
	}
	r.Place, r.Nth = 0, 0
	for {
		// A pass that makes the cache reads all of the data, since the cache must be complete.
		if r.Limit > 0 && r.Place >= r.Limit && !p.MakesCache() {
			break
		}
		b, err := r.next(p)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		r.warn(b)
		seen := b
		if r.Translate != nil {
			seen = r.Translate(b)
		}
		if err := r.guarded(func() error { return r.visit(p, seen, w, f) }); err != nil {
			return err
		}
		if w == nil {
			p.Recycle(b)
		}
		r.report(r.Nth)
	}
	r.perPass = r.Nth
	return r.guarded(func() error { return w.flush(p, f) })
}

// next returns the next batch, and measures how long it takes to come.
func (r *Reader) next(p *stream.Pass) (*feature.Batch, error) {
	if r.Waited == nil {
		return p.Next()
	}
	began := time.Now()
	b, err := p.Next()
	r.Waited.Add(int64(time.Since(began)))
	return b, err
}

// begin starts a pass that calls Flush when it has to wait for input.
func (r *Reader) begin(ctx context.Context) (*stream.Pass, error) {
	p, err := r.Data.Pass(ctx)
	if err == nil {
		p.Idle = r.Flush
	}
	return p, err
}

// visit calls f for each example of a batch, or puts it into the window.
func (r *Reader) visit(p *stream.Pass, b *feature.Batch, w *window, f Visit) error {
	for i := range b.Examples {
		ex := &b.Examples[i]
		r.Place += int(ex.Before) + 1
		if r.Limit > 0 && r.Place > r.Limit {
			continue
		}
		r.Nth++
		held := r.Holdout.Holds(r.Place)
		var err error
		if w == nil {
			err = f(b, ex, held)
		} else {
			err = w.add(p, b, ex, held, f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// guarded calls f while it holds Guard.
func (r *Reader) guarded(f func() error) error {
	if r.Guard != nil {
		r.Guard.Lock()
		defer r.Guard.Unlock()
	}
	return f()
}

// Batches reads the shard once, in order, and calls f for each batch of examples. Their weights
// are those of the data.
func (r *Reader) Batches(ctx context.Context, f func(b *feature.Batch) error) (err error) {
	p, err := r.begin(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	for n := 0; ; {
		b, err := r.next(p)
		if err == io.EOF {
			r.perPass = n
			return nil
		}
		if err != nil {
			return err
		}
		r.warn(b)
		n += len(b.Examples)
		if err := f(b); err != nil {
			return err
		}
		p.Recycle(b)
		r.report(n)
	}
}

// warn logs the warnings of the parser.
func (r *Reader) warn(b *feature.Batch) {
	for _, w := range b.Warnings {
		r.Log.Warn(w.Text, "file", w.Source, "line", w.Line)
	}
}

// report reports the progress of the pass.
func (r *Reader) report(read int) {
	if r.Watch != nil {
		r.Watch(read, r.perPass)
	}
}

// Within returns the examples that belong to the pass. place is the number of the example
// before them, with empty lines counted.
func (r *Reader) Within(examples []feature.Example, place int) []feature.Example {
	if r.Limit == 0 {
		return examples
	}
	for i := range examples {
		if place += int(examples[i].Before) + 1; place > r.Limit {
			return examples[:i]
		}
	}
	return examples
}

// EachExample reads data once and calls f for each example, in order. It is for data that is
// measured and not learned from.
func EachExample(ctx context.Context, data *stream.Dataset, f func(b *feature.Batch, ex *feature.Example)) (err error) {
	p, err := data.Pass(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	for {
		b, err := p.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		for i := range b.Examples {
			f(b, &b.Examples[i])
		}
		p.Recycle(b)
	}
}

// recycler reuses batches.
type recycler interface{ Recycle(b *feature.Batch) }

var _ recycler = (*stream.Pass)(nil)

// Divergence returns the error of a solver as a fault of the data that it diverged on.
func (r *Reader) Divergence(err error) error { return &DataError{Name: r.Name, Text: err.Error()} }
