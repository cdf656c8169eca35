// SPDX-License-Identifier: Apache-2.0

package offset

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
)

// MaxRate is the assumed limit on the difference of the rates of two clocks. Linux slews a clock by at most 500 parts
// per million, so the clocks of two machines differ by at most twice that.
const MaxRate = 1000e-6

// jump is the rate above which exchanges that contradict each other mean that a clock has jumped.
const jump = 0.1

// Sample is an exchange of messages.
type Sample struct {
	Sent, Received int64 // by the local clock
	Remote         int64 // by the other clock, between the two
}

// Curve is the offset of the other clock over time.
type Curve struct {
	Rate float64 // limit on the difference of the rates; see the contract

	points []point
}

// point bounds the offset at a time.
type point struct{ at, lo, hi int64 }

// ErrNoSample is the error of Fit without samples.
var ErrNoSample = errors.New("there was no exchange with the other clock")

// Fit returns the offset that agrees with all samples.
func Fit(samples []Sample) (*Curve, error) {
	if len(samples) == 0 {
		return nil, ErrNoSample
	}
	for _, s := range samples {
		if s.Received < s.Sent {
			return nil, fmt.Errorf("the clock jumped back by %d ns during an exchange", s.Sent-s.Received)
		}
	}
	for rate := MaxRate; rate < jump; rate *= 2 {
		c := &Curve{Rate: rate}
		for _, s := range samples {
			half := (s.Received - s.Sent + 1) / 2
			far := c.drift(half)
			c.points = append(c.points, point{s.Sent + half, s.Remote - s.Received - far, s.Remote - s.Sent + far})
		}
		if c.intersect() {
			return c, nil
		}
	}
	return nil, fmt.Errorf("a clock has jumped: the offset changes by more than %g s a second", jump)
}

// drift limits the change of the offset in a time.
func (c *Curve) drift(d int64) int64 { return int64(math.Ceil(c.Rate * float64(d))) }

// intersect makes each point the intersection of all. It reports whether no intersection is empty.
func (c *Curve) intersect() bool {
	p := c.points
	slices.SortFunc(p, func(a, b point) int { return cmp.Compare(a.at, b.at) })
	for i := 1; i < len(p); i++ {
		p[i].narrow(p[i-1], c.drift(p[i].at-p[i-1].at))
	}
	for i := len(p) - 2; i >= 0; i-- {
		p[i].narrow(p[i+1], c.drift(p[i+1].at-p[i].at))
	}
	return !slices.ContainsFunc(p, func(p point) bool { return p.lo > p.hi })
}

// narrow intersects p with the bounds of another point, from which the offset can have changed by far.
func (p *point) narrow(q point, far int64) {
	p.lo, p.hi = max(p.lo, q.lo-far), min(p.hi, q.hi+far)
}

// At returns the offset at a time of the local clock, and the limit on its error.
func (c *Curve) At(local int64) (ahead, bound int64) {
	p := point{local, math.MinInt64, math.MaxInt64}
	next := sort.Search(len(c.points), func(i int) bool { return c.points[i].at > local })
	if next > 0 {
		q := c.points[next-1]
		p.narrow(q, c.drift(local-q.at))
	}
	if next < len(c.points) {
		q := c.points[next]
		p.narrow(q, c.drift(q.at-local))
	}
	width := p.hi - p.lo // may be -1 by rounding
	return p.lo + width/2, (max(width, 0) + 1) / 2
}
