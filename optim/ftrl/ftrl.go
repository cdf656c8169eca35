// SPDX-License-Identifier: Apache-2.0

package ftrl

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/loss"
)

// Rule is a member of the family.
type Rule uint8

const (
	None Rule = iota
	Proximal
	Pistol
	Coin
	FreeGrad
)

// names holds vw's option of each rule.
var names = []string{"", "ftrl", "pistol", "coin", "freegrad"}

// String is vw's option, without dashes; empty for None. A rule that does not exist has its number.
func (r Rule) String() string {
	if int(r) >= len(names) {
		return strconv.Itoa(int(r))
	}
	return names[r]
}

// Named returns the rule of vw's option.
func Named(name string) (Rule, bool) {
	for i, n := range names {
		if n == name && i > 0 {
			return Rule(i), true
		}
	}
	return None, false
}

// Defaults are vw's α and β. FreeGrad has none.
func (r Rule) Defaults() (alpha, beta float32) {
	switch r {
	case Pistol:
		return 1, 0.5
	case Coin:
		return 4, 1
	}
	return 0.5, 1
}

// Reader returns a learner with the same weights, for predictions in another goroutine. Neither
// may learn as long as a reader predicts.
func (l *Learner) Reader() *Learner {
	r := *l
	return &r
}

// Stride returns the number of floats per weight: 4, or 8 of Coin and FreeGrad.
func (r Rule) Stride() int {
	if r >= Coin {
		return 8
	}
	return 4
}

// Slots returns the floats of a weight that a model keeps: w and the sums.
func (r Rule) Slots() []int {
	switch r {
	case Pistol:
		return []int{0, 1, 2, 3}
	case Coin, FreeGrad:
		return []int{0, 1, 2, 3, 4, 5}
	}
	return []int{0, 1, 2}
}

// Config is a rule and its numbers.
type Config struct {
	Rule        Rule    // not None
	Bits        uint    // log2 of the number of weights, 1 to 32
	Alpha, Beta float32 // as in the formulas; Rule.Defaults has vw's values
	L1, L2      float32 // of Proximal; 0: none

	FreeGrad FreeGradConfig // of FreeGrad
}

// Validate reports every fault at once.
func (c *Config) Validate() error {
	var faults []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf("ftrl: "+format, args...))
		}
	}
	check(c.Rule > None && int(c.Rule) < len(names), "rule %d: want Proximal, Pistol, Coin or FreeGrad", c.Rule)
	check(c.Bits >= 1 && c.Bits <= 32, "%d bits: there must be 2^1 to 2^32 weights", c.Bits)
	check(c.Alpha >= 0 && c.Alpha <= math.MaxFloat32, "alpha %v: want a finite number of 0 or more", c.Alpha)
	check(c.Beta >= 0 && c.Beta <= math.MaxFloat32, "beta %v: want a finite number of 0 or more", c.Beta)
	check(c.L1 >= 0 && c.L2 >= 0, "l1 %v, l2 %v: want 0 or more", c.L1, c.L2)
	check(c.Rule == Proximal || c.L1 == 0 && c.L2 == 0, "l1 %v, l2 %v: only Proximal has them", c.L1, c.L2)
	if c.Rule == FreeGrad {
		c.FreeGrad.check(check)
	}
	return errors.Join(faults...)
}

// Learner learns by one of the rules. It is for one goroutine at a time.
type Learner struct {
	// Range limits predictions; the caller lets it follow the labels, the one of
	// the example at hand included. Shown is the range before that label: it
	// limits the prediction that Learn returns, but for Pistol and FreeGrad, as in vw.
	Range, Shown loss.Range

	// PredictFirst makes Learn of Pistol and FreeGrad return the prediction by the weights that
	// the example before has left, limited to Shown. The other rules always do so.
	PredictFirst bool

	// Watch is called by Learn with an example's label, if it is not nil: with the prediction
	// by which the example is learned, before its weights change. class is 0, of Classes the
	// one that learns.
	Watch func(class int, prediction float32)

	// Undefined is the number of examples for which FreeGrad's prediction was no number when it
	// learned: importance weights below 1 can make a sum of squares negative. As in vw such a
	// prediction is 0.
	Undefined int

	cfg  Config
	loss loss.Loss
	w    []float32
	sums Sums

	freeGrad freeGrad

	class int
	own   []float32 // w from the first weight of the current class on
}

// Sums are a learner's state outside the weights that a model keeps. Coin has them; FreeGrad has
// TotalWeight.
type Sums struct {
	Norm        float64 // Σ weight·Σ(x/m)²
	TotalWeight float64
}

// New returns a learner with weights of zero.
func New(cfg Config, l loss.Loss) (*Learner, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	lr := &Learner{cfg: cfg, loss: l, freeGrad: freeGrad{norms: 1}}
	lr.Range, _ = loss.DefaultRange(l)
	lr.Shown = lr.Range
	lr.w = make([]float32, lr.Stride()<<cfg.Bits)
	lr.own = lr.w
	return lr, nil
}

// Config returns the configuration, the defaults filled in.
func (l *Learner) Config() Config { return l.cfg }

// Weights returns the floats of all weights, Stride of them each.
func (l *Learner) Weights() []float32 { return l.w }

// Stride returns the number of floats per weight: 4, or 8 of Coin and FreeGrad.
func (l *Learner) Stride() int { return l.cfg.Rule.Stride() }

// Slots returns the floats of a weight that a model keeps: w and the sums.
func (l *Learner) Slots() []int { return l.cfg.Rule.Slots() }

// Sums returns the state outside the weights.
func (l *Learner) Sums() Sums { return l.sums }

// SetSums restores the value that Sums returned, or sets it from a model.
func (l *Learner) SetSums(s Sums) { l.sums = s }

// Predict returns the score of the features by the weights, raw and limited to
// the range.
func (l *Learner) Predict(fs []feature.Feature, initial float32) (raw, clipped float32) {
	raw = l.dot(fs, initial)
	return raw, l.Range.Clip(raw)
}

func (l *Learner) dot(fs []feature.Feature, p float32) float32 {
	stride := l.Stride()
	for _, f := range fs {
		p += float32(l.own[int(f.Index)*stride] * f.Value)
	}
	if p != p && l.cfg.Rule == FreeGrad {
		return 0 // as learn does
	}
	return p
}

// Learn predicts the example, then learns from it if it has a label and a
// weight above 0. It returns the raw prediction by which it has learned, the prediction
// before the update, and the unweighted loss; 0 without a label.
func (l *Learner) Learn(fs []feature.Feature, ex *feature.Example) (raw, clipped, loss float32) {
	if !ex.Labeled() || ex.Weight <= 0 {
		raw, clipped = l.Predict(fs, ex.Initial)
		if ex.Labeled() {
			loss = l.loss.Loss(l.Range, clipped, ex.Label)
			l.watch(clipped)
			if l.predictsFirst() {
				clipped = l.Shown.Clip(raw)
			}
		}
		return raw, clipped, loss
	}
	first := l.predictsFirst()
	var before float32
	if first && l.cfg.Rule != Proximal { // the raw prediction is the same
		before = l.dot(fs, ex.Initial)
	}
	raw, clipped = l.learn(fs, ex)
	loss = l.loss.Loss(l.Range, clipped, ex.Label)
	switch {
	case l.cfg.Rule == Proximal:
		clipped = l.Shown.Clip(raw)
	case first:
		clipped = l.Shown.Clip(before)
	}
	return raw, clipped, loss
}

// predictsFirst reports whether Learn returns the prediction by the weights after the previous
// example.
func (l *Learner) predictsFirst() bool {
	return l.cfg.Rule != Pistol && l.cfg.Rule != FreeGrad || l.PredictFirst
}

// learn predicts the example, which has a label, and learns from it. It returns the
// prediction by which it has learned. An example without weight moves no weight, but may
// raise m of its features.
func (l *Learner) learn(fs []feature.Feature, ex *feature.Example) (raw, clipped float32) {
	switch l.cfg.Rule {
	case Proximal:
		raw, clipped = l.Predict(fs, ex.Initial)
		l.watch(clipped)
		l.proximal(fs, l.slope(clipped, ex))
	case Pistol:
		raw = l.lead(fs)
		clipped = l.Range.Clip(raw)
		l.watch(clipped)
		l.pistol(fs, l.slope(clipped, ex))
	case FreeGrad:
		var norm float32
		if raw, norm = l.roam(fs, ex.Weight); raw != raw {
			raw = 0
			l.Undefined++
		}
		clipped = l.Range.Clip(raw)
		l.watch(clipped)
		l.grad(fs, l.loss.First(l.Range, clipped, ex.Label), ex.Weight, norm)
	default:
		var average float32
		raw, average = l.bet(fs, ex.Weight)
		clipped = l.Range.Clip(raw)
		l.watch(clipped)
		l.coin(fs, l.slope(clipped, ex), average)
	}
	return raw, clipped
}

func (l *Learner) watch(p float32) {
	if l.Watch != nil {
		l.Watch(l.class, p)
	}
}

// slope returns the weighted derivative of the loss at the prediction p.
func (l *Learner) slope(p float32, ex *feature.Example) float32 {
	return l.loss.First(l.Range, p, ex.Label) * ex.Weight
}
