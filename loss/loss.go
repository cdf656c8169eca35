// SPDX-License-Identifier: Apache-2.0

package loss

import (
	"fmt"
	"strings"
)

// Range is the range of predictions: the labels seen (squared loss), or fixed
// (logistic: -50 to 50).
type Range struct{ Min, Max float32 }

// Clip limits p to the range; NaN becomes 0, as in vw. Max may be less than Min, since a user may give one limit and the
// other one is 0 then: as in vw Max counts first here, and Min in the slope of the squared loss.
func (r Range) Clip(p float32) float32 {
	switch {
	case p != p:
		return 0
	case p > r.Max:
		return r.Max
	case p < r.Min:
		return r.Min
	}
	return p
}

// Include widens the range to hold the label y.
func (r Range) Include(y float32) Range {
	return Range{Min: min(r.Min, y), Max: max(r.Max, y)}
}

// Loss is a loss function of a raw prediction p and a label y, with the
// update rules that vw derives from it. All arithmetic that vw does in float32
// is done in float32.
type Loss interface {
	// Name is vw's --loss_function spelling.
	Name() string
	// Loss is the loss itself, unweighted.
	Loss(r Range, p, y float32) float32
	// Update is the importance-invariant update (Karampatziakis and Langford,
	// 2011): the factor of rate·x for the scale (eta·weight) and the
	// prediction's change per unit of update.
	Update(p, y, scale, perUpdate float32) float32
	// UnsafeUpdate is the plain gradient step: -scale·dLoss/dp.
	UnsafeUpdate(p, y, scale float32) float32
	// SquareGrad is the squared first derivative that the adaptive rule sums.
	SquareGrad(p, y float32) float32
	// First and Second are derivatives with respect to p.
	First(r Range, p, y float32) float32
	Second(r Range, p, y float32) float32
}

// bounded is a loss whose range of predictions does not follow the labels.
type bounded interface{ bounds() Range }

// DefaultRange returns the range of predictions before the first example. Unless it
// is fixed it follows the labels; it always contains 0, as vw's.
func DefaultRange(l Loss) (r Range, fixed bool) {
	if b, ok := l.(bounded); ok {
		return b.bounds(), true
	}
	return Range{}, false
}

// picky is a loss that is defined for only some labels.
type picky interface{ labels() Range }

// Labels returns the range of valid labels of the loss; false: any label is valid. As in vw,
// the loss is computed for invalid labels too.
func Labels(l Loss) (r Range, ok bool) {
	if p, ok := l.(picky); ok {
		return p.labels(), true
	}
	return Range{}, false
}

// Params are the parameters of some losses.
type Params struct {
	// Tau is the share of labels below the prediction of the quantile loss, above 0 and below
	// 1. 0: 0.5.
	Tau float32
	// Expectile is the weight of predictions above the label in the expectile loss, above 0 and
	// at most 0.5. It has no default.
	Expectile float32
	// Logistic holds the labels of the logistic loss's two classes, Min below
	// Max. Zero: -1 and 1.
	Logistic Range
}

var names = []string{"squared", "classic", "hinge", "logistic", "quantile", "expectile", "poisson"}

// New returns the loss function that vw calls name, if it needs no parameters.
func New(name string) (Loss, error) { return NewWith(name, Params{}) }

// NewWith returns the loss function that vw calls name.
func NewWith(name string, p Params) (Loss, error) {
	switch name {
	case "squared":
		return squared{}, nil
	case "classic":
		return classic{}, nil
	case "hinge":
		return hinge{}, nil
	case "logistic":
		if p.Logistic == (Range{}) {
			p.Logistic = Range{Min: -1, Max: 1}
		}
		if !(p.Logistic.Min < p.Logistic.Max) {
			return nil, fmt.Errorf("loss: logistic: the labels of the two classes are %v and %v, want the first below the second (loss.Params.Logistic)", p.Logistic.Min, p.Logistic.Max)
		}
		return logistic{p.Logistic.Min, p.Logistic.Max}, nil
	case "poisson":
		return poisson{}, nil
	case "quantile":
		if p.Tau == 0 {
			p.Tau = 0.5
		}
		if !(p.Tau > 0 && p.Tau < 1) {
			return nil, fmt.Errorf("loss: quantile: tau is %v, want more than 0 and less than 1 (loss.Params.Tau)", p.Tau)
		}
		return quantile{p.Tau}, nil
	case "expectile":
		if !(p.Expectile > 0 && p.Expectile <= 0.5) {
			return nil, fmt.Errorf("loss: expectile: q is %v, want more than 0 and at most 0.5 (loss.Params.Expectile)", p.Expectile)
		}
		return expectile{p.Expectile}, nil
	}
	last := len(names) - 1
	have := strings.Join(names[:last], ", ") + " or " + names[last]
	return nil, fmt.Errorf("loss: unknown loss function %q: use %s", name, have)
}
