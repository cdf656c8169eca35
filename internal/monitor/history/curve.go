// SPDX-License-Identifier: Apache-2.0

package history

import "time"

// Point is the progress of a job or a rank at one time.
type Point struct {
	At       time.Duration // since the job was opened
	Examples uint64        // seen in all passes together
	Loss     float64       // average so far; of a batch solver that of the newest pass
	Pass     uint32        // completed passes; of a job: those of its slowest rank
	Steps    uint64        // completed steps; likewise
	Holdout  float64       // mean loss of the newest pass over held-out examples; 0: none
}

// Curve is progress over time. It has at most as many points as its limit.
type Curve struct {
	Points []Point
	limit  int           // at least 3
	gap    time.Duration // least time between two points; grows as points are dropped
	Thins  int           // number of times that half of the points were dropped
}

// add appends a point if the progress has changed. The newest point is replaced while it is younger
// than the gap. It reports whether the curve has changed.
func (c *Curve) add(p Point) bool {
	n := len(c.Points)
	if n > 0 {
		last := &c.Points[n-1]
		same := p
		if same.At = last.At; same == *last {
			return false
		}
		if n > 1 && p.At-c.Points[n-2].At < c.gap {
			*last = p
			return true
		}
	}
	if n >= c.limit {
		c.thin()
	}
	c.Points = append(c.Points, p)
	return true
}

// thin drops every second point, but neither the first nor the last.
func (c *Curve) thin() {
	n, last := 0, c.Points[len(c.Points)-1]
	for i := 0; i < len(c.Points)-1; i += 2 {
		c.Points[n] = c.Points[i]
		n++
	}
	c.Points = append(c.Points[:n], last)
	c.gap = max(2*c.gap, 2*last.At/time.Duration(c.limit))
	c.Thins++
}

// Last returns the newest point; false: there is none.
func (c *Curve) Last() (Point, bool) {
	if len(c.Points) == 0 {
		return Point{}, false
	}
	return c.Points[len(c.Points)-1], true
}
