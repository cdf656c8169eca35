// SPDX-License-Identifier: Apache-2.0

package strategy

import "math"

// Golden narrows a range of one option by golden-section search, which finds the minimum of a loss
// that first falls and then rises. As in vw-hypersearch, it ends when the range is smaller than
// the tolerance times the sum of the magnitudes of its two inner points.
type Golden struct {
	cfg     Config
	tol     float64
	trials  int
	waiting bool

	low, mid, high, x float64 // positions from 0 to 1
	fmid              float64
	known             bool // fmid is known
}

// resphi is 2 - φ, the part of a range at which it is divided.
var resphi = (3 - math.Sqrt(5)) / 2

// NewGolden returns a search of the only dimension of the space, a range. tol is the tolerance,
// above 0; vw-hypersearch's default is 0.01.
func NewGolden(cfg Config, tol float64) *Golden {
	return &Golden{cfg: cfg, tol: tol, mid: resphi, high: 1}
}

// Next returns the inner point whose loss is not known.
func (g *Golden) Next() (Job, bool) {
	if g.waiting || g.trials == g.cfg.Trials || g.known && !g.divide() {
		return Job{}, false
	}
	at := g.x
	if !g.known {
		at = g.mid
	}
	g.waiting = true
	g.trials++
	return Job{
		Trial: g.trials - 1, Resource: g.cfg.Rungs[len(g.cfg.Rungs)-1], Values: []string{g.cfg.Space[0].At(at)},
	}, true
}

// divide sets x in the larger part of the range, and reports whether the range is still too large.
func (g *Golden) divide() bool {
	if g.high-g.mid > g.mid-g.low {
		g.x = g.mid + resphi*(g.high-g.mid)
	} else {
		g.x = g.mid - resphi*(g.mid-g.low)
	}
	value := g.cfg.Space[0].value
	return math.Abs(value(g.high)-value(g.low)) >= g.tol*(math.Abs(value(g.mid))+math.Abs(value(g.x)))
}

// Report narrows the range. Equal losses count as if x were worse.
func (g *Golden) Report(_ Job, loss float64) {
	g.waiting = false
	loss = rank(loss)
	if !g.known {
		g.known, g.fmid = true, loss
		return
	}
	above := g.high-g.mid > g.mid-g.low
	switch better := loss < g.fmid; {
	case better && above:
		g.low, g.mid, g.fmid = g.mid, g.x, loss
	case better:
		g.high, g.mid, g.fmid = g.mid, g.x, loss
	case above:
		g.high = g.x
	default:
		g.low = g.x
	}
}
