// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"context"
	"fmt"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/optim"
)

// batch is the machine of passes of a batch solver (L-BFGS). A step is one
// pass over the shard, which adds up what the solver asked for; its exchange
// adds the sums of all ranks; its commit hands them to the solver, which takes
// the same decision on every rank.
type batch struct {
	s      *session
	solver optim.Solver

	sums *optim.Sums // the solver's own vectors
	row  []byte

	// Sums over examples accumulate here, in float64, before they become the
	// float32 that ranks exchange.
	gradient, diagonal []float64

	best []float32 // the weights with the best holdout loss; nil: none kept
	stop bool      // the holdout loss no longer improves
}

var _ allreduce.Machine = (*batch)(nil)

// Next names the next step.
func (m *batch) Next() (string, bool) {
	req, ok := m.solver.Request()
	if !ok || m.stop {
		return "", false
	}
	return fmt.Sprintf("L-BFGS pass %d (%v)", m.solver.Row().Pass+1, req.Kind), true
}

// Work answers the solver's request over this rank's shard.
func (m *batch) Work(ctx context.Context) error {
	req, _ := m.solver.Request()
	s, sums := m.s, m.sums
	sums.Loss, sums.Weight, sums.Curvature = 0, 0, 0
	if req.Kind != optim.Curvature {
		m.gradient = zeroed(m.gradient, len(req.X))
	}
	if req.Kind == optim.First {
		m.diagonal = zeroed(m.diagonal, len(req.X))
	}
	err := s.pass(ctx, func(b *feature.Batch, ex *feature.Example, held bool) error {
		if s.passes == 0 {
			s.observe(ex, held)
		}
		fs := b.FeaturesOf(ex)
		raw := ex.Initial + float32(dot(req.X, fs))
		p := s.seen.Clip(raw)
		var l float32
		if ex.Labeled() {
			l = s.loss.Loss(s.seen, p, ex.Label)
			if !held && ex.Weight > 0 {
				m.add(req, ex, fs, p, l)
			}
		}
		return s.account(b, ex, held, raw, p, l)
	})
	if err != nil {
		return err
	}
	if req.Kind != optim.Curvature {
		narrow(sums.Gradient, m.gradient)
	}
	if req.Kind == optim.First {
		narrow(sums.Diagonal, m.diagonal)
		m.diagonal = nil
	}
	return nil
}

// add adds one example to the sums.
func (m *batch) add(req optim.Request, ex *feature.Example, fs []feature.Feature, p, l float32) {
	s, sums := m.s, m.sums
	w := float64(ex.Weight)
	if req.Kind == optim.Curvature {
		d := dot(req.Dir, fs)
		sums.Curvature += float64(w * float64(s.loss.Second(s.seen, p, ex.Label)) * d * d)
		return
	}
	sums.Loss += float64(w * float64(l))
	sums.Weight += w
	// float32 as vw has them: their product with a value is then exact in
	// float64, and no fused multiply-add can change the sum.
	first := s.loss.First(s.seen, p, ex.Label) * ex.Weight
	g := m.gradient
	for _, f := range fs {
		g[f.Index] += float64(first) * float64(f.Value)
	}
	if req.Kind != optim.First {
		return
	}
	second := s.loss.Second(s.seen, p, ex.Label) * ex.Weight
	for _, f := range fs {
		m.diagonal[f.Index] += float64(second) * float64(f.Value*f.Value)
	}
}

// dot is Σ w·x in float64: each product is exact there.
func dot(w []float32, fs []feature.Feature) float64 {
	var sum float64
	for _, f := range fs {
		sum += float64(w[f.Index]) * float64(f.Value)
	}
	return sum
}

func zeroed(v []float64, n int) []float64 {
	if v == nil {
		return make([]float64, n)
	}
	clear(v)
	return v
}

func narrow(dst []float32, src []float64) {
	for i, v := range src {
		dst[i] = float32(v)
	}
}

// Exchange adds the sums of all ranks, in vw's order: diagonal, importance,
// loss, gradient; or the curvature alone.
func (m *batch) Exchange(ctx context.Context, g *allreduce.Group) error {
	if err := m.s.ready(ctx); err != nil {
		return err
	}
	m.solver.Prepare(m.sums)
	if g.Size() > 1 {
		req, _ := m.solver.Request()
		if err := m.reduce(ctx, g, req.Kind); err != nil {
			return err
		}
	}
	if err := m.s.share(ctx, record{}); err != nil {
		return err
	}
	req, _ := m.solver.Request()
	if req.Kind == optim.Curvature {
		return nil // of the same weights as the pass before
	}
	if err := m.s.validate(ctx, func(fs []feature.Feature, initial float32, r loss.Range) (raw, clipped float32) {
		raw = initial + float32(dot(req.X, fs))
		return raw, r.Clip(raw)
	}); err != nil {
		return err
	}
	if m.s.valid.improves() {
		m.best = append(m.best[:0], req.X...)
	}
	return nil
}

func (m *batch) reduce(ctx context.Context, g *allreduce.Group, kind optim.Kind) error {
	sums := m.sums
	if kind == optim.First {
		if err := g.AllReduce(ctx, allreduce.Vec(sums.Diagonal).Named("diagonal of the Hessian"), allreduce.Sum); err != nil {
			return err
		}
	}
	if err := m.reduceScalars(ctx, g, kind); err != nil {
		return err
	}
	if kind == optim.Curvature {
		return nil
	}
	return g.AllReduce(ctx, allreduce.Vec(sums.Gradient).Named("gradient"), allreduce.Sum)
}

// reduceScalars adds the numbers: one call of float64 among gvw ranks, vw's
// calls of one float32 each in a job with vw workers.
func (m *batch) reduceScalars(ctx context.Context, g *allreduce.Group, kind optim.Kind) error {
	sums := m.sums
	if !g.Stream() {
		v := [3]float64{sums.Loss, sums.Weight, sums.Curvature}
		if err := g.AllReduce(ctx, allreduce.Vec(v[:]).Named("loss"), allreduce.Sum); err != nil {
			return err
		}
		sums.Loss, sums.Weight, sums.Curvature = v[0], v[1], v[2]
		return nil
	}
	scalar := func(name string, x *float64) error {
		v, err := g.AccumulateScalar(ctx, name, float32(*x))
		*x = float64(v)
		return err
	}
	switch kind {
	case optim.First:
		if err := scalar("importance weight", &sums.Weight); err != nil {
			return err
		}
		return scalar("loss", &sums.Loss)
	case optim.Curvature:
		return scalar("curvature", &sums.Curvature)
	}
	return scalar("loss", &sums.Loss)
}

// Commit hands the sums to the solver and prints its row of vw's trace.
func (m *batch) Commit() error {
	s := m.s
	h := s.all.Stats.Holdout
	better, stop := s.endPass()
	if err := m.solver.Accept(m.sums); err != nil {
		return err
	}
	row := m.solver.Row()
	if s.holdout.on && row.Pass > 1 { // vw shows the training loss of the first pass
		row.HeldOut, row.HoldoutKnown = true, h.PassWeight > 0
		if row.HoldoutKnown {
			row.Holdout = h.PassLoss / h.PassWeight
		}
	}
	m.row = optim.AppendRow(m.row[:0], row)
	if err := s.say(m.row); err != nil {
		return err
	}
	req, more := m.solver.Request()
	if better && more && s.valid == nil {
		m.best = append(m.best[:0], req.X...)
	}
	if m.stop = stop; stop {
		if err := s.say([]byte("Early termination reached w.r.t. " + s.stoppedBy() + " set error")); err != nil {
			return err
		}
	}
	return s.report("L-BFGS")
}

// finish prints why the solver stopped, and puts the final weights into w, the
// solver's weights: those of the best pass if the holdout loss stopped
// it, as vw does, else the last ones.
func (m *batch) finish(w []float32, termination float64) error {
	m.gradient, m.diagonal = nil, nil
	if m.stop {
		if m.best != nil {
			copy(w, m.best)
			m.best = nil
		}
		return nil
	}
	m.best = nil
	return m.s.say(optim.AppendVerdict(nil, m.solver.Status(), m.solver.Row(), termination))
}
