// SPDX-License-Identifier: Apache-2.0

package vectors

import (
	"context"
	"fmt"

	"github.com/gvw-project/gvw/bench/internal/setup"
	"github.com/gvw-project/gvw/bench/internal/task"
)

// lostPasses is the number of passes after which the models have converged: before, a job that loses a rank differs,
// since the others have learned from other examples.
const lostPasses = 32

// LostRank compares ten ranks with ten of which one ends after half of its examples (MALT, Fig. 14).
func LostRank(ctx context.Context, data string) ([]figure, error) {
	t, err := task.Splice(data)
	if err != nil {
		return nil, err
	}
	t.Passes = lostPasses
	whole := training{Task: t, ranks: 10, graph: "all", sync: "bsp"}
	lost := whole
	lost.killRank, lost.kill = 9, 0.5
	f := figure{
		Name: "malt-loss", Title: "Objective by time, one of 10 ranks lost",
		X: "seconds", Y: "objective", LogY: true,
	}
	a, err := whole.run(ctx)
	if err != nil {
		return nil, err
	}
	b, err := lost.run(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range []struct {
		name string
		result
	}{{"10 ranks", a}, {"rank 9 lost at half", b}} {
		l := line{Name: r.name}
		for _, s := range r.states {
			l.Points = append(l.Points, point{X: s.after.Seconds(), Y: s.value})
		}
		f.Lines = append(f.Lines, l)
	}
	f.Notes = fmt.Sprintf("%v, bsp, %d examples a second and rank; longest time between two rounds: %d ms, with the loss %d ms; "+
		"last objective %.5f, with the loss %.5f (%+.2f %%); %s", t, t.Rate,
		a.pause.Milliseconds(), b.pause.Milliseconds(), a.last(), b.last(), 100*(b.last()/a.last()-1), setup.Machine())
	return []figure{f}, nil
}
