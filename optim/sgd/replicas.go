// SPDX-License-Identifier: Apache-2.0

package sgd

import (
	"math"
	"slices"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/internal/fmath"
	"github.com/gvw-project/gvw/internal/mem"
)

// Replicas are copies of a learner that learn from different examples at the same time, each in a table of its own.
// They are merged at intervals; then all have the same state again. The results depend on which examples each replica
// learns from between two merges, and on nothing else.
//
// A merge has three steps: Split by the goroutine of each replica, then Merge of each part of the table and Total by any
// goroutines, then Sync by the goroutine of each replica. Each step waits for the one before. Only weights that have
// changed since the last merge cost time. As in [Past], a weight has changed if its rate is not 0.
type Replicas struct {
	Learners []*Learner // each for one goroutine at a time; the first one has the table of the whole learner

	whole   *Learner
	changed []changes // of each replica
	next    Scalars   // after the merge under way
}

// changes are the weights that a replica has changed since the last merge.
type changes struct {
	notes
	order []uint32 // the notes by the parts of the table
	ends  []int    // the end of each part in order
}

// notes are weights as they were before they changed.
type notes struct {
	at  []uint32     // weights; one may be there again
	old [][4]float32 // as they were, the first one of each
}

// add notes those weights of fs whose rate is 0.
func (n *notes) add(t *table, fs []feature.Feature) {
	rate := t.rate & 3
	for i := range fs {
		if c := &t.cells[fs[i].Index]; math.Float32bits(c[rate]) == 0 {
			n.at, n.old = append(n.at, fs[i].Index), append(n.old, *c)
		}
	}
}

// Mergeable reports whether learners of this rule can be [Replicas]: each weight has a rate that only the current update
// uses, and no update changes all weights.
func (c *Config) Mergeable() bool { return !c.plain() && c.SparseL2 == 0 && !c.regular() }

// NewReplicas returns n replicas of l, whose rule must be Mergeable. All have weights of 0 except the first one, whose
// table is that of l. Until the replicas have ended, l must not learn.
func NewReplicas(l *Learner, n int) *Replicas {
	r := &Replicas{whole: l, changed: make([]changes, n)}
	for i := range n {
		one := *l
		one.unmasked, one.ahead, one.past, one.notes = nil, ahead{}, nil, &r.changed[i].notes
		if i > 0 {
			one.t.use(make([]float32, len(l.t.w)))
		}
		r.changed[i].ends = make([]int, n)
		r.Learners = append(r.Learners, &one)
	}
	return r
}

// Begin continues from the scalars and the table of the whole learner. If its weights have changed since the last merge,
// Copy must follow for each replica, then Unmark for each, and then they may learn.
func (r *Replicas) Begin() {
	r.Learners[0].t.use(r.whole.t.w)
	for _, l := range r.Learners {
		l.SetScalars(r.whole.Scalars())
	}
}

// Copy copies the weights of the whole learner to replica i.
func (r *Replicas) Copy(i int) {
	w := r.Learners[i].t.w
	if i > 0 {
		mem.Huge(w)
		copy(w, r.whole.t.w)
	}
}

// Unmark sets the rates of replica i to 0.
func (r *Replicas) Unmark(i int) {
	cells, rate := r.Learners[i].t.cells, r.whole.t.rate&3
	for k := range cells {
		cells[k][rate] = 0
	}
}

// Split prepares the changes of replica i for a merge.
func (r *Replicas) Split(i int) {
	c, parts := &r.changed[i], uint64(len(r.Learners))
	clear(c.ends)
	bits := r.whole.cfg.Bits
	for _, at := range c.at {
		c.ends[uint64(at)*parts>>bits]++
	}
	begin := 0
	for p, n := range c.ends {
		c.ends[p] = begin // the loop below moves it to the end
		begin += n
	}
	c.order = slices.Grow(c.order[:0], len(c.at))[:len(c.at)]
	for k, at := range c.at {
		end := &c.ends[uint64(at)*parts>>bits]
		c.order[*end] = uint32(k)
		*end++
	}
}

// Total adds up the sums of all replicas.
func (r *Replicas) Total() {
	base := r.whole.Scalars()
	r.next = base
	for _, l := range r.Learners {
		r.next.Nsx += l.nsx - base.Nsx
		r.next.TotalWeight += l.totalWeight - base.TotalWeight
		r.next.T += l.time - base.T
	}
	r.next.Mult = r.Learners[0].mult
}

// Sync ends a merge for replica i.
func (r *Replicas) Sync(i int) {
	learners := []*Learner{r.Learners[i]}
	if i == 0 {
		learners = append(learners, r.whole)
	}
	for _, l := range learners {
		l.nsx, l.totalWeight, l.time, l.mult = r.next.Nsx, r.next.TotalWeight, r.next.T, r.next.Mult
	}
	c := &r.changed[i]
	c.at, c.old = c.at[:0], c.old[:0]
}

// Merge merges the weights of a part of the table. There are as many parts as replicas.
func (r *Replicas) Merge(part int) {
	const group = 64 // the loads of so many weights are under way at a time
	var touched [group]uint8
	rate := r.whole.t.rate & 3
	for i, l := range r.Learners {
		c, begin := &r.changed[i], 0
		if part > 0 {
			begin = c.ends[part-1]
		}
		for order := range slices.Chunk(c.order[begin:c.ends[part]], group) {
			clear(touched[:])
			for _, other := range r.Learners {
				cells := other.t.cells
				for n, k := range order {
					touched[n] += uint8(1 - (uint64(math.Float32bits(cells[c.at[k]][rate]))-1)>>63)
				}
			}
			for n, k := range order {
				at := c.at[k]
				cell := l.t.cells[at] // a copy
				switch {
				case cell[rate] == 0: // merged already, or an update without a step
					continue
				case touched[n] > 1:
					cell = r.merged(at, &c.old[k])
				}
				cell[rate] = 0
				for _, other := range r.Learners {
					other.t.cells[at] = cell
				}
			}
		}
	}
}

// overlap is the number of replicas whose changes of a weight are added in full. Replicas that learn from similar
// examples change a weight in the same way, each as far as all of them together should. Of two such changes the sum is
// as far beyond the optimum as the weight was before, so that with an overlap of 2 the loss at a merge can oscillate. With 1,
// the mean, weights move too slowly. bench/README.md has the losses of the values between.
const overlap = 1.75

// merged returns weight at after a merge of the replicas that have changed it. old is the weight before.
//
// G grows by what it has grown by in all replicas. N is the largest one. The weight moves by the sum of the changes of all
// replicas, each multiplied by two factors. The first is (Gᵢ/G)^power_t: the rate would have been lower by as much if the
// replica had known all of G. The second is overlap/m, but at most 1. m is the number of replicas that the
// change is shared by: (ΣΔGᵢ)²/ΣΔGᵢ², or those that have changed the weight, for rules without G.
func (r *Replicas) merged(at uint32, old *[4]float32) [4]float32 {
	cfg, t := &r.whole.cfg, &r.whole.t
	rate, norm := t.rate&3, t.norm&3
	largest, m := old[norm], 0.0
	var grown, squares float64 // ΣΔGᵢ and ΣΔGᵢ²
	for _, l := range r.Learners {
		c := &l.t.cells[at]
		if c[rate] == 0 {
			continue
		}
		m++
		if t.norm > 0 {
			largest = max(largest, c[norm])
		}
		if cfg.Adaptive {
			d := float64(c[adaptive]) - float64(old[adaptive])
			grown += d
			squares += float64(d * d)
		}
	}
	g := float64(old[adaptive]) + grown
	if squares > 0 {
		m = float64(grown*grown) / squares
	}
	share := min(1, overlap/m)
	start := float64(old[weight]) * r.rescale(old[norm], largest)
	sum := 0.0
	for _, l := range r.Learners {
		c := &l.t.cells[at]
		if c[rate] == 0 {
			continue
		}
		d := float64(float64(c[weight])*r.rescale(c[norm], largest)) - start
		if cfg.Adaptive && g > 0 {
			if ratio := float64(c[adaptive]) / g; cfg.squareRoot() {
				d *= math.Sqrt(ratio)
			} else {
				d *= float64(fmath.Pow32(float32(ratio), cfg.PowerT))
			}
		}
		sum += d
	}
	var cell [4]float32
	cell[weight] = float32(start + float64(share*sum))
	if cfg.Adaptive {
		cell[adaptive] = float32(g)
	}
	if t.norm > 0 {
		cell[norm] = largest
	}
	return cell
}

// rescale returns the factor on a weight when its N grows from n to a, as in the loops of the rule.
func (r *Replicas) rescale(n, a float32) float64 {
	cfg, t := &r.whole.cfg, &r.whole.t
	switch {
	case t.norm == 0 || n == a || n == 0:
		return 1
	case !cfg.squareRoot():
		k := a / n
		return float64(fmath.Pow32(k*k, t.normPower))
	case !cfg.Adaptive:
		k := n / a
		return float64(k * k)
	}
	return float64(n / a)
}
