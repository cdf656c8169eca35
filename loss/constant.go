// SPDX-License-Identifier: Apache-2.0

package loss

import (
	"math"

	"github.com/gvw-project/gvw/internal/fmath"
)

// LabelStats are the statistics that determine the best constant.
type LabelStats struct {
	Weight        float64 // sum of the weights of labeled examples
	Sum           float64 // sum of weight·label
	First, Second float32 // the first two distinct labels seen, or None
	More          bool    // a third label was seen
	None          float32 // stands for "no label" in First and Second
	Range         *Range  // range of predictions, which need not contain the labels; nil: that of the two labels
}

// BestConstant returns the constant prediction of the least loss, as vw's
// summary prints it, and its mean loss: NaN when it is not known, because more
// than two labels were seen. ok is false when the summary has no such line.
//
// As vw it derives the counts of the two labels from the sums; a single label
// is paired with 0, so labels that are all 0 have no best constant.
func BestConstant(l Loss, s LabelStats) (c, loss float32, ok bool) {
	if s.First == s.None || s.Weight <= 0 {
		return 0, 0, false
	}
	lo, hi := s.First, s.Second
	if hi == s.None {
		hi = 0
	}
	if lo > hi {
		lo, hi = hi, lo
	}
	if lo == hi {
		return 0, 0, false
	}
	nlo := float32(s.Sum-float64(float64(hi)*s.Weight)) / (lo - hi)
	nhi := float32(s.Weight - float64(nlo))
	if nlo+nhi <= 0 {
		return 0, 0, false
	}

	r, fixed := DefaultRange(l)
	switch {
	case s.Range != nil:
		r = *s.Range
	case !fixed:
		r = r.Include(lo).Include(hi)
	}
	switch q := l.(type) {
	case squared, classic:
		c = float32(s.Sum / s.Weight)
	case hinge:
		if s.More {
			return 0, 0, false
		}
		lo, hi = -1, 1
		c = 1
		if nhi <= nlo {
			c = -1
		}
	case logistic:
		if s.More {
			return 0, 0, false
		}
		lo, hi = -1, 1
		switch {
		case nlo <= 0:
			c = 1
		case nhi <= 0:
			c = -1
		default:
			c = fmath.Log32(nhi / nlo)
		}
	case quantile:
		if s.More {
			return 0, 0, false
		}
		c = lo
		if q.tau*(nlo+nhi) < nhi {
			c = hi
		}
	default:
		return 0, 0, false
	}
	if s.More {
		return c, float32(math.NaN()), true
	}
	if nlo > 0 {
		loss += float32(l.Loss(r, c, lo) * nlo)
	}
	if nhi > 0 {
		loss += float32(l.Loss(r, c, hi) * nhi)
	}
	return c, loss / (nlo + nhi), true
}
