// SPDX-License-Identifier: Apache-2.0

package vectors

import (
	"context"
	"fmt"
	"math"
	"strings"
)

// candidate is one of several trainings that a figure compares.
type candidate struct {
	name string
	training
}

// comparison is how trainings are compared. Each is a line of its excess objective: the ratio of its best objective so far
// to the least that any of them has reached, minus 1. The objective of single models goes up and down with
// the last examples of the ranks.
type comparison struct {
	goal     float64                                 // a share above the least value
	x        func(t training, s state) float64       // of a point
	describe func(t training, s state) (note string) // what the goal took
}

// compare runs the trainings one after another. It returns their lines, and a text that says what the goal
// took each of them.
func (c comparison) compare(ctx context.Context, runs []candidate) (lines []line, notes string, err error) {
	results := make([]result, len(runs))
	least := 0.0
	for i, r := range runs {
		if results[i], err = r.run(ctx); err != nil {
			return nil, "", err
		}
		if best := results[i].best(); i == 0 || best < least {
			least = best
		}
	}
	goal := (1 + c.goal) * least
	var texts []string
	for i, r := range runs {
		l := line{Name: r.name}
		best := math.Inf(1)
		for _, s := range results[i].states {
			if s.value >= best {
				continue
			}
			best = s.value
			if above := best/least - 1; above > 0 {
				l.Points = append(l.Points, point{X: c.x(r.training, s), Y: above})
			}
		}
		lines = append(lines, l)
		text := "not reached"
		if s, ok := results[i].reach(goal); ok {
			text = c.describe(r.training, s)
		}
		texts = append(texts, r.name+": "+text)
	}
	return lines, fmt.Sprintf("to %.5f, %g %% above the least: %s", goal, 100*c.goal, strings.Join(texts, "; ")), nil
}
