// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/stream"
)

// Reader makes the passes over the shard of this rank. It decides which examples a pass
// has, which of them are held out, and in which order they come; what becomes of an
// example is up to the visit.
type Reader struct {
	Data    *stream.Dataset
	Name    string // of the data, for messages
	Holdout HoldoutSet
	Limit   int            // examples of a pass; 0: all
	Shuffle *ShuffleConfig // of passes after the first; nil: as they stand
	Log     *slog.Logger   // gets the warnings of the parser
	// Flush is called before a pass waits for more input, so that the results of the
	// examples before appear.
	Flush func() error
	Watch func(read, of int) // is told how far the pass is, of how many examples (0: not known yet); nil: nobody

	// Guard is held while a pass learns, not while it reads; nil: nobody asks meanwhile.
	Guard sync.Locker

	Nth      int  // number of the example at hand, in its pass
	Place    int  // the same among examples and the empty lines between them, as vw counts
	perPass  int  // examples of this rank in a pass; 0: not known yet
	Shuffled bool // the pass under way is
}

// Visit is what a pass does with an example, which is its own during the call
// only. held says that it is held out: to be predicted, not learned from.
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
		if r.Limit > 0 && r.Place >= r.Limit && !p.MakesCache() {
			break
		}
		b, err := p.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		r.warn(b)
		if err := r.guarded(func() error { return r.visit(p, b, w, f) }); err != nil {
			return err
		}
		if w == nil {
			p.Recycle(b)
		}
		r.tell(r.Nth)
	}
	r.perPass = r.Nth
	return r.guarded(func() error { return w.flush(p, f) })
}

// begin begins a pass, which shows its predictions before it waits for more input.
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

// guarded calls f under the guard, if there is one.
func (r *Reader) guarded(f func() error) error {
	if r.Guard != nil {
		r.Guard.Lock()
		defer r.Guard.Unlock()
	}
	return f()
}

// Batches reads the shard once, in order, and calls f for each run of examples,
// with the weights that the data gives them.
func (r *Reader) Batches(ctx context.Context, f func(b *feature.Batch) error) (err error) {
	p, err := r.begin(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	for n := 0; ; {
		b, err := p.Next()
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
		r.tell(n)
	}
}

// warn logs the warnings of the parser.
func (r *Reader) warn(b *feature.Batch) {
	for _, w := range b.Warnings {
		r.Log.Warn(w.Text, "file", w.Source, "line", w.Line)
	}
}

// tell says how far the pass is.
func (r *Reader) tell(read int) {
	if r.Watch != nil {
		r.Watch(read, r.perPass)
	}
}

// Within returns those of the examples that a pass takes. place is that of the example
// before them.
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
// only measured.
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

// recycler takes batches back.
type recycler interface{ Recycle(b *feature.Batch) }

var _ recycler = (*stream.Pass)(nil)

// Divergence returns the error of a solver as a fault of the data that it diverged on.
func (r *Reader) Divergence(err error) error { return &DataError{Name: r.Name, Text: err.Error()} }
