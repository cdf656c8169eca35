// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"context"
	"errors"
	"io"
	"math"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/stream"
)

// visit is what a pass does with an example, which is its own during the call
// only. held says that it is held out: to be predicted, not learned from.
type visit func(b *feature.Batch, ex *feature.Example, held bool) error

// pass reads the shard once and calls f for each example: in order, or with
// --shuffle from the second pass on in a random one.
func (s *session) pass(ctx context.Context, f visit) (err error) {
	p, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	f = s.weighted(f)
	var w *window
	if s.shuffles() {
		w = newWindow(&s.cfg, s.rank, s.passes)
	}
	limit := s.cfg.perPass()
	s.place, s.nth = 0, 0
	for {
		if limit > 0 && s.place >= limit && !p.MakesCache() {
			break
		}
		b, err := p.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		for _, w := range b.Warnings {
			s.log.Warn(w.Text, "file", w.Source, "line", w.Line)
		}
		if err := s.guarded(func() error { return s.visit(p, b, w, f) }); err != nil {
			return err
		}
		if w == nil {
			p.Recycle(b)
		}
		if s.cfg.Diagnostics.Watch != nil {
			s.cfg.Diagnostics.Watch(Progress{Pass: s.passes + 1, Passes: s.cfg.maxPasses(), Examples: s.nth, Of: s.perPass})
		}
	}
	s.perPass = s.nth
	return s.guarded(func() error { return w.flush(p, f) })
}

// begin begins a pass, which shows its predictions before it waits for more input.
func (s *session) begin(ctx context.Context) (*stream.Pass, error) {
	p, err := s.data.Pass(ctx)
	if err == nil {
		p.Idle = s.flush
	}
	return p, err
}

// flush hands predictions and audit to their outputs.
func (s *session) flush() error {
	return errors.Join(s.preds.flush(), s.raw.flush(), s.audit.flush())
}

// visit calls f for each example of a batch, or puts it into the window.
func (s *session) visit(p *stream.Pass, b *feature.Batch, w *window, f visit) error {
	limit := s.cfg.perPass()
	for i := range b.Examples {
		ex := &b.Examples[i]
		s.place += int(ex.Before) + 1
		if limit > 0 && s.place > limit {
			continue
		}
		s.nth++
		held := s.holdout.held(s.place)
		s.calls.count(s, ex, held)
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
func (s *session) guarded(f func() error) error {
	if s.guard != nil {
		s.guard.Lock()
		defer s.guard.Unlock()
	}
	return f()
}

// weighted is f for examples whose weights are those of their classes. As in vw only an
// example that is learned from has that weight.
func (s *session) weighted(f visit) visit {
	weights := s.cfg.Data.ClassWeights
	if len(weights) == 0 {
		return f
	}
	var own feature.Example
	return func(b *feature.Batch, ex *feature.Example, held bool) error {
		if !s.learns(held) {
			return f(b, ex, held)
		}
		own = *ex // the batch stays as it is
		s.cfg.reweigh(&own)
		s.spared = sparedWeight(ex, &own)
		err := f(b, &own, held)
		s.spared = 0
		return err
	}
}

// sparedWeight returns the weight by which the loss of an example counts whose class has
// weight 0, and 0 for others. own is the example with the weight of its class. vw keeps
// the loss of the prediction before such an example would be learned from.
func sparedWeight(ex, own *feature.Example) float32 {
	if own.Weight != 0 {
		return 0
	}
	return max(ex.Weight, 0)
}

// reweigh gives an example the weight of its class, which is the label without its
// fraction, as in vw.
func (c *Config) reweigh(ex *feature.Example) {
	if !ex.Labeled() {
		return
	}
	label := float32(math.Trunc(float64(ex.Label)))
	for _, class := range c.Data.ClassWeights {
		if label == class.Label {
			ex.Weight *= class.Weight
			return
		}
	}
}

// batches reads the shard once, in order, and calls f for each run of examples,
// with the weights that the data gives them.
func (s *session) batches(ctx context.Context, f func(b *feature.Batch) error) (err error) {
	p, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	for n := 0; ; {
		b, err := p.Next()
		if err == io.EOF {
			s.perPass = n
			return nil
		}
		if err != nil {
			return err
		}
		for _, w := range b.Warnings {
			s.log.Warn(w.Text, "file", w.Source, "line", w.Line)
		}
		n += len(b.Examples)
		if err := f(b); err != nil {
			return err
		}
		p.Recycle(b)
		if s.cfg.Diagnostics.Watch != nil {
			s.cfg.Diagnostics.Watch(Progress{Pass: s.passes + 1, Passes: s.cfg.maxPasses(), Examples: n, Of: s.perPass})
		}
	}
}

// shuffles reports whether the pass under way is shuffled: the first one is
// read as it stands, since it makes the cache and its losses are those of the
// data's order, and L-BFGS has no use for it.
func (s *session) shuffles() bool { return s.cfg.Data.Shuffle && s.passes > 0 && !s.silent }

// recycler takes batches back.
type recycler interface{ Recycle(b *feature.Batch) }

var _ recycler = (*stream.Pass)(nil)
