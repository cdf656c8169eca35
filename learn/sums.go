// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/optim"
)

// summation adds up what a batch solver asks for, over this rank's examples in
// their order.
type summation struct {
	s    *session
	sums *optim.Sums
	req  optim.Request
	pass int // of the solver, from 1
	n    int // examples of this pass so far

	// Sums over examples accumulate here, in float64, before they become the
	// float32 that ranks exchange.
	gradient, diagonal []float64
}

// begin clears the sums for a pass.
func (a *summation) begin(req optim.Request, sums *optim.Sums, pass int) {
	a.req, a.sums, a.pass, a.n = req, sums, pass, 0
	sums.Loss, sums.Weight, sums.Curvature = 0, 0, 0
	if req.Kind != optim.Curvature {
		a.gradient = zeroed(a.gradient, len(req.X))
	}
	if req.Kind == optim.First {
		a.diagonal = zeroed(a.diagonal, len(req.X))
	}
}

// example adds one example.
func (a *summation) example(b *feature.Batch, ex *feature.Example, held bool) error {
	s := a.s
	a.n++
	if s.passes == 0 {
		s.observe(ex, held)
	}
	fs := b.FeaturesOf(ex)
	raw := ex.Initial + float32(dot(a.req.X, fs))
	p := s.seen.Clip(raw)
	var l float32
	if ex.Labeled() {
		l = s.loss.Loss(s.seen, p, ex.Label)
		if !held && ex.Weight > 0 {
			if a.add(ex, fs, p, l); !optim.Finite(a.sums.Loss + a.sums.Curvature) {
				return a.diverged(b, ex, raw, l)
			}
		}
	}
	return s.account(b, ex, held, raw, p, l)
}

func (a *summation) add(ex *feature.Example, fs []feature.Feature, p, l float32) {
	s, sums := a.s, a.sums
	w := float64(ex.Weight)
	if a.req.Kind == optim.Curvature {
		d := dot(a.req.Dir, fs)
		if s.cfg.Semantics == optim.VW9 {
			d += float64(ex.Initial) // vw adds it here, too
		}
		sums.Curvature += float64(w * float64(s.loss.Second(s.seen, p, ex.Label)) * d * d)
		return
	}
	sums.Loss += float64(w * float64(l))
	sums.Weight += w
	// float32 as vw has them: their product with a value is then exact in
	// float64, and no fused multiply-add can change the sum.
	first := s.loss.First(s.seen, p, ex.Label) * ex.Weight
	g := a.gradient
	for _, f := range fs {
		g[f.Index] += float64(first) * float64(f.Value)
	}
	if a.req.Kind != optim.First {
		return
	}
	second := s.loss.Second(s.seen, p, ex.Label) * ex.Weight
	for _, f := range fs {
		a.diagonal[f.Index] += float64(second) * float64(f.Value*f.Value)
	}
}

// end makes the sums ready to be exchanged.
func (a *summation) end() error {
	if a.req.Kind == optim.Curvature {
		return nil
	}
	if a.s.cfg.Semantics != optim.VW9 { // vw 9 knows no difference
		a.sums.Loss *= loss.Integral(a.s.loss)
	}
	if err := a.narrow("gradient", a.sums.Gradient, a.gradient); err != nil {
		return err
	}
	if a.req.Kind != optim.First {
		return nil
	}
	err := a.narrow("diagonal of the Hessian", a.sums.Diagonal, a.diagonal)
	a.diagonal = nil
	return err
}

// narrow rounds a sum, which must fit.
func (a *summation) narrow(what string, dst []float32, src []float64) error {
	var wild float32
	for i, v := range src {
		dst[i] = float32(v)
		wild += dst[i] - dst[i] // not a number from the first infinity on
	}
	if wild == 0 {
		return nil
	}
	for i, v := range dst {
		if v-v != 0 {
			return a.s.divergence(&optim.DivergeError{Pass: a.pass, What: what, Weight: i, Value: float64(v)})
		}
	}
	panic("BUG: learn: a sum is not finite and has no such element")
}

// diverged names the example at which a sum became infinite or not a number.
func (a *summation) diverged(b *feature.Batch, ex *feature.Example, raw, l float32) error {
	tag := ""
	if t := b.TagOf(ex); len(t) > 0 {
		tag = fmt.Sprintf(" (tag %s)", t)
	}
	what := fmt.Sprintf("its loss is %v", l)
	if a.req.Kind == optim.Curvature {
		what = fmt.Sprintf("the curvature with it is %v", a.sums.Curvature)
	} else if v := float64(l); optim.Finite(v) {
		what = fmt.Sprintf("the sum of the losses is %v", a.sums.Loss)
	}
	return &DataError{Name: a.s.dataName(), Text: fmt.Sprintf(
		"pass %d, example %d%s: %s (prediction %v, label %v, importance %v): the run diverged; look for values out of range in the example, and for weights out of range in the model it starts from",
		a.pass, a.n, tag, what, raw, ex.Label, ex.Weight)}
}

// divergence turns a solver's refusal into a fault of the data, which it is.
func (s *session) divergence(err error) error {
	return &DataError{Name: s.dataName(), Text: err.Error()}
}

// dataName is what messages call this rank's data.
func (s *session) dataName() string {
	switch n := len(s.cfg.Inputs); {
	case n == 0:
		return s.cfg.Cache
	case n > 1:
		return fmt.Sprintf("%s and %d more", s.cfg.Inputs[0].Name, n-1)
	}
	return s.cfg.Inputs[0].Name
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
