// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/stream"
)

// reader makes the passes over the shard of this rank. It decides which examples a pass
// has, which of them are held out, and in which order they come; what becomes of an
// example is up to the visit.
type reader struct {
	data    *stream.Dataset
	name    string // of the data, for messages
	holdout holdoutSet
	limit   int            // examples of a pass; 0: all
	shuffle *shuffleConfig // of passes after the first; nil: as they stand
	log     *slog.Logger   // gets the warnings of the parser
	// flush is called before a pass waits for more input, so that the results of the
	// examples before appear.
	flush func() error
	watch func(read, of int) // is told how far the pass is, of how many examples (0: not known yet); nil: nobody

	// guard is held while a pass learns, not while it reads; nil: nobody asks meanwhile.
	guard sync.Locker

	nth      int  // number of the example at hand, in its pass
	place    int  // the same among examples and the empty lines between them, as vw counts
	perPass  int  // examples of this rank in a pass; 0: not known yet
	shuffled bool // the pass under way is
}

// visit is what a pass does with an example, which is its own during the call
// only. held says that it is held out: to be predicted, not learned from.
type visit func(b *feature.Batch, ex *feature.Example, held bool) error

// pass reads the shard once and calls f for each example. nth counts the passes of the
// training from 0. The first one is never shuffled, since it makes the cache and its
// losses are those of the data's order.
func (r *reader) pass(ctx context.Context, nth int, f visit) (err error) {
	p, err := r.begin(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	var w *window
	if r.shuffled = r.shuffle != nil && nth > 0; r.shuffled {
		w = r.shuffle.window(nth)
	}
	r.place, r.nth = 0, 0
	for {
		if r.limit > 0 && r.place >= r.limit && !p.MakesCache() {
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
		r.tell(r.nth)
	}
	r.perPass = r.nth
	return r.guarded(func() error { return w.flush(p, f) })
}

// begin begins a pass, which shows its predictions before it waits for more input.
func (r *reader) begin(ctx context.Context) (*stream.Pass, error) {
	p, err := r.data.Pass(ctx)
	if err == nil {
		p.Idle = r.flush
	}
	return p, err
}

// visit calls f for each example of a batch, or puts it into the window.
func (r *reader) visit(p *stream.Pass, b *feature.Batch, w *window, f visit) error {
	for i := range b.Examples {
		ex := &b.Examples[i]
		r.place += int(ex.Before) + 1
		if r.limit > 0 && r.place > r.limit {
			continue
		}
		r.nth++
		held := r.holdout.holds(r.place)
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
func (r *reader) guarded(f func() error) error {
	if r.guard != nil {
		r.guard.Lock()
		defer r.guard.Unlock()
	}
	return f()
}

// batches reads the shard once, in order, and calls f for each run of examples,
// with the weights that the data gives them.
func (r *reader) batches(ctx context.Context, f func(b *feature.Batch) error) (err error) {
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
func (r *reader) warn(b *feature.Batch) {
	for _, w := range b.Warnings {
		r.log.Warn(w.Text, "file", w.Source, "line", w.Line)
	}
}

// tell says how far the pass is.
func (r *reader) tell(read int) {
	if r.watch != nil {
		r.watch(read, r.perPass)
	}
}

// within returns those of the examples that a pass takes. place is that of the example
// before them.
func (r *reader) within(examples []feature.Example, place int) []feature.Example {
	if r.limit == 0 {
		return examples
	}
	for i := range examples {
		if place += int(examples[i].Before) + 1; place > r.limit {
			return examples[:i]
		}
	}
	return examples
}

// eachExample reads data once, in order.
func eachExample(ctx context.Context, data *stream.Dataset, f func(b *feature.Batch, ex *feature.Example)) (err error) {
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

// divergence turns a solver's refusal into a fault of the data, which it is.
func (r *reader) divergence(err error) error { return &dataError{Name: r.name, Text: err.Error()} }
