// SPDX-License-Identifier: Apache-2.0

package loss

import "github.com/gvw-project/gvw/internal/fmath"

// logistic is log(1+e**(-y·p)) for the classes -1 and 1, whose labels are lo and
// hi. Any other label is, as in vw, a mixture of these two: it counts as 1 with
// the share m = (y-lo)/(hi-lo) and as -1 with the share 1-m, so a label
// between them is a soft one.
type logistic struct{ lo, hi float32 }

var (
	_ Loss    = logistic{}
	_ bounded = logistic{}
	_ picky   = logistic{}
)

func (logistic) Name() string { return "logistic" }

// bounds are vw's: e**50 is finite in float32.
func (logistic) bounds() Range { return Range{Min: -50, Max: 50} }

func (l logistic) labels() Range { return Range{Min: l.lo, Max: l.hi} }

// class returns -1 or 1 for a label that is one of the two classes, else 0.
func (l logistic) class(y float32) float32 {
	switch y {
	case l.hi:
		return 1
	case l.lo:
		return -1
	}
	return 0
}

// mix returns m·positive + (1-m)·negative for the share m of the label y.
func (l logistic) mix(y, positive, negative float32) float32 {
	m := (y - l.lo) / (l.hi - l.lo)
	return float32(m*positive) + float32((1-m)*negative)
}

func (l logistic) Loss(_ Range, p, y float32) float32 {
	if c := l.class(y); c != 0 {
		return logLoss(p, c)
	}
	return l.mix(y, logLoss(p, 1), logLoss(p, -1))
}

// logLoss computes in float32, as vw does: it is 0 from y·p = 16.6 on, where 1+e**(-y·p) rounds
// to 1.
func logLoss(p, y float32) float32 { return fmath.Log32(1 + fmath.Exp32(-y*p)) }

func (l logistic) Update(p, y, scale, perUpdate float32) float32 {
	if c := l.class(y); c != 0 {
		return logUpdate(p, c, scale, perUpdate)
	}
	return l.mix(y, logUpdate(p, 1, scale, perUpdate), logUpdate(p, -1, scale, perUpdate))
}

// logUpdate solves the invariant update's equation: with d = e**(y·p) and
// x = scale·perUpdate + y·p + d it is -(y·(W(e**x) - x) + p)/perUpdate, W being
// Lambert's function.
func logUpdate(p, y, scale, perUpdate float32) float32 {
	d := fmath.Exp32(y * p)
	if float32(scale*perUpdate) < taylor {
		return y * scale / (1 + d)
	}
	x := float32(scale*perUpdate) + float32(y*p) + d
	return -(float32(y*lambert(x)) + p) / perUpdate
}

// lambert returns W(e**x) - x within 9e-5, by one step of a method of fourth
// order from a first guess (vw's wexpmx; float64 on a float32 argument).
func lambert(x32 float32) float32 {
	x := float64(x32)
	var w, r float64
	if x >= 1 {
		w = float64(0.86*x) + 0.01
		r = x - fmath.Log(w) - w
	} else {
		w = fmath.Exp(float64(0.8*x) - 0.65)
		r = float64(0.2*x) + 0.65 - w
	}
	t := 1 + w
	u := float64(2 * t * (t + float64(2*r)/3))
	return float32(float64(w*(1+float64(r/t*(u-r)/(u-float64(2*r))))) - x)
}

func (l logistic) UnsafeUpdate(p, y, scale float32) float32 {
	if c := l.class(y); c != 0 {
		return c * scale / (1 + fmath.Exp32(c*p))
	}
	return -l.First(Range{}, p, y) * scale
}

func (l logistic) SquareGrad(p, y float32) float32 {
	d := l.First(Range{}, p, y)
	return d * d
}

func (l logistic) First(_ Range, p, y float32) float32 {
	if c := l.class(y); c != 0 {
		return logFirst(p, c)
	}
	return l.mix(y, logFirst(p, 1), logFirst(p, -1))
}

func logFirst(p, y float32) float32 { return -y / (1 + fmath.Exp32(y*p)) }

// Second is σ(p)·σ(-p), the same for both classes and so for any mixture.
func (logistic) Second(_ Range, p, _ float32) float32 {
	s := 1 / (1 + fmath.Exp32(p))
	return s * (1 - s)
}
