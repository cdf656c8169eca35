// SPDX-License-Identifier: Apache-2.0

package sgd

import (
	"math"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/internal/fmath"
	"github.com/gvw-project/gvw/internal/mem"
)

// The floats of a weight. normalized is the slot of N in the rule with both sums; otherwise N
// takes the slot of G. The rate follows the sums.
const (
	weight     = 0
	adaptive   = 1
	normalized = 2
)

// table holds the weights and the parameters of the loops over the features of an example.
type table struct {
	w     []float32
	cells [][4]float32 // the same memory, four floats a weight; nil for the plain rule
	from  uint32       // the first of them in the whole table: 0 but for classes

	power     float32 // exponent of G: -power_t
	normPower float32 // exponent of N²: power_t-1
	adaptive  bool    // for the loop that serves every rule with power_t other than 0.5
	norm      int     // the slot of N there; 0: none
	rate      int     // the slot of the rate
}

func newTable(c *Config, w []float32) table {
	t := table{w: w, power: -c.PowerT, normPower: c.PowerT - 1, adaptive: c.Adaptive}
	if c.Stride() == 4 {
		t.cells = mem.Cells(w)
	}
	t.rate = 1
	if c.Adaptive {
		t.rate++
	}
	if c.Normalized {
		t.norm = t.rate
		t.rate++
	}
	return t
}

// use replaces the memory of the table.
func (t *table) use(w []float32) {
	t.w = w
	if t.cells != nil {
		t.cells = mem.Cells(w)
	}
}

// sums are the values of the whole example that an update needs.
type sums struct{ perUpdate, norm float32 }

// kernels are the loops of a rule, which are nearly the whole cost of learning. They are chosen
// once, so no decision is made per feature. They visit the features three times, in order. Only
// the first visit waits for memory, and its loads are independent.
type kernels struct {
	// dot returns p + Σ w·x, summed in float32 in the order of the features.
	dot func(t *table, fs []feature.Feature, a *ahead, p, gravity float32) float32
	// sense adds features to G and N, stores each weight's rate, and returns sum plus Σ rate·x²
	// and Σ (x/N)².
	sense func(t *table, fs []feature.Feature, g2 float32, sum sums) sums
	both  bool // sense is the default rule's, and accumulateBoth does the same faster
	// apply adds u·rate·x to the weights.
	apply func(t *table, fs []feature.Feature, a *ahead, u float32)
}

func kernelsFor(c *Config) kernels {
	k := kernels{dot: dot4, apply: apply4}
	if c.plain() {
		k = kernels{dot: dot1, sense: squares, apply: apply1}
	}
	if c.L1 != 0 {
		k.dot = dotTruncated
	}
	switch {
	case c.plain():
	case !c.squareRoot():
		k.sense = sensePower
	case c.Adaptive && c.Normalized:
		k.sense, k.both = senseEach, true
	case c.Adaptive:
		k.sense = senseAdaptive
	default:
		k.sense = senseNormalized
	}
	return k
}

// dotOneEach is dot1 for one feature after the other.
func dotOneEach(t *table, fs []feature.Feature, p float32) float32 {
	for i := range fs {
		p += float32(t.w[fs[i].Index] * fs[i].Value)
	}
	return p
}

// dotEach is dot4 for one feature after the other.
func dotEach(t *table, fs []feature.Feature, p float32) float32 {
	cells := t.cells
	for i := range fs {
		p += float32(cells[fs[i].Index][weight] * fs[i].Value)
	}
	return p
}

func dotTruncated(t *table, fs []feature.Feature, _ *ahead, p, gravity float32) float32 {
	stride := 1
	if t.cells != nil {
		stride = 4
	}
	for i := range fs {
		p += float32(truncate(t.w[int(fs[i].Index)*stride], gravity) * fs[i].Value)
	}
	return p
}

// squares is sense for the plain rules: the rate is 1.
func squares(_ *table, fs []feature.Feature, _ float32, sum sums) sums {
	perUpdate, norm := sum.perUpdate, sum.norm
	for i := range fs {
		x := fs[i].Value
		perUpdate += float32(x * x)
	}
	return sums{perUpdate, norm}
}

const (
	minX  float32 = 1.084202e-19 // smaller values count as minX, so that squares are normal numbers
	minX2 float32 = minX * minX
	maxX2 float32 = math.MaxFloat32

	signless = 1<<31 - 1 // the bits of |x|; they are ordered as the numbers
)

// floor returns the replacement of x if x² is below minX2.
func floor(x float32) float32 {
	if x > 0 {
		return minX
	}
	return -minX
}

// senseEach is accumulateBoth for one feature after the other.
func senseEach(t *table, fs []feature.Feature, g2 float32, sum sums) sums {
	perUpdate, norm := sum.perUpdate, sum.norm
	cells := t.cells
	for i := range fs {
		c := &cells[fs[i].Index]
		x := fs[i].Value
		x2 := x * x
		if x2 < minX2 {
			x, x2 = floor(x), minX2
		}
		g := c[adaptive] + float32(g2*x2)
		c[adaptive] = g

		n := c[normalized]
		if abs := math.Float32bits(x) & signless; abs > math.Float32bits(n) {
			a := math.Float32frombits(abs)
			if n > 0 { // a new scale: rescale the weight to it
				c[weight] *= n / a
			}
			n = a
			c[normalized] = n
		}
		if x2 <= maxX2 {
			norm += x2 / float32(n*n)
		} else {
			norm++
		}
		rate := 1 / sqrt(g) * (1 / n)
		c[normalized+1] = rate
		perUpdate += float32(x2 * rate)
	}
	return sums{perUpdate, norm}
}

func senseAdaptive(t *table, fs []feature.Feature, g2 float32, sum sums) sums {
	perUpdate, norm := sum.perUpdate, sum.norm
	cells := t.cells
	for i := range fs {
		c := &cells[fs[i].Index]
		x2 := max(fs[i].Value*fs[i].Value, minX2)
		g := c[adaptive] + float32(g2*x2)
		c[adaptive] = g
		rate := 1 / sqrt(g)
		c[adaptive+1] = rate
		perUpdate += float32(x2 * rate)
	}
	return sums{perUpdate, norm}
}

func senseNormalized(t *table, fs []feature.Feature, _ float32, sum sums) sums {
	perUpdate, norm := sum.perUpdate, sum.norm
	const slot = 1 // of N
	cells := t.cells
	for i := range fs {
		c := &cells[fs[i].Index]
		x := fs[i].Value
		x2 := x * x
		if x2 < minX2 {
			x, x2 = floor(x), minX2
		}
		n := c[slot]
		if abs := math.Float32bits(x) & signless; abs > math.Float32bits(n) {
			a := math.Float32frombits(abs)
			if n > 0 {
				r := n / a
				c[weight] *= r * r
			}
			n = a
			c[slot] = n
		}
		if x2 <= maxX2 {
			norm += x2 / float32(n*n)
		} else {
			norm++
		}
		inv := 1 / n
		rate := inv * inv
		c[slot+1] = rate
		perUpdate += float32(x2 * rate)
	}
	return sums{perUpdate, norm}
}

// sensePower serves the rules with sums for any power_t. The loops above are
// its cases for 0.5, except that vw takes 1/N² as the rate of the normalised rule
// without adaptive sums there, where this formula says 1/N.
func sensePower(t *table, fs []feature.Feature, g2 float32, sum sums) sums {
	perUpdate, norm := sum.perUpdate, sum.norm
	for i := range fs {
		c := &t.cells[fs[i].Index]
		x := fs[i].Value
		x2 := x * x
		if x2 < minX2 {
			x, x2 = floor(x), minX2
		}
		rate := float32(1)
		if t.adaptive {
			c[adaptive] += float32(g2 * x2)
			rate = fmath.Pow32(c[adaptive], t.power)
		}
		if t.norm != 0 {
			n := &c[t.norm]
			if a := math.Float32frombits(math.Float32bits(x) & signless); a > *n {
				if *n > 0 {
					r := a / *n
					c[weight] *= fmath.Pow32(r*r, t.normPower)
				}
				*n = a
			}
			if x2 <= maxX2 {
				norm += x2 / float32(*n**n)
			} else {
				norm++
			}
			rate *= fmath.Pow32(*n**n, t.normPower)
		}
		c[t.rate] = rate
		perUpdate += float32(x2 * rate)
	}
	return sums{perUpdate, norm}
}

func apply1(t *table, fs []feature.Feature, _ *ahead, u float32) {
	for i := range fs {
		if x := fs[i].Value; usable(x) {
			t.w[fs[i].Index] += float32(u * x)
		}
	}
}

// applyEach is apply4 for one feature after the other.
func applyEach(t *table, fs []feature.Feature, u float32) {
	cells, rate := t.cells, t.rate&3
	for i := range fs {
		if x := fs[i].Value; usable(x) {
			c := &cells[fs[i].Index]
			c[weight] += float32(u * float32(x*c[rate]))
		}
	}
}

// usable reports whether |x| is below the greatest float32, without a
// comparison of floats.
func usable(x float32) bool {
	return math.Float32bits(x)&signless < 0x7f7fffff
}
