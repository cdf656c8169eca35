// SPDX-License-Identifier: Apache-2.0

package vectors

import (
	"context"
	"fmt"

	"github.com/gvw-project/gvw/bench/internal/task"
)

// Passes compares eight ranks that send their models to each other every batch with one rank, and with averaging the
// models once a pass (MALT, Fig. 4 and 5).
func Passes(ctx context.Context, data string) ([]figure, error) {
	text, err := task.Text(data)
	if err != nil {
		return nil, err
	}
	splice, err := task.Splice(data)
	if err != nil {
		return nil, err
	}
	var figures []figure
	for _, t := range []task.Task{text, splice, task.Dense()} {
		f, err := passesOf(ctx, t)
		if err != nil {
			return nil, err
		}
		figures = append(figures, f)
	}
	return figures, nil
}

// passesOf measures one task.
func passesOf(ctx context.Context, t task.Task) (figure, error) {
	const ranks = 8
	once := t
	once.Batch = len(t.Examples) / ranks
	c := comparison{
		goal: 0.02,
		x:    training.passed,
		describe: func(t training, s state) string {
			return fmt.Sprintf("%.2f passes, %.2f s", t.passed(s), s.after.Seconds())
		},
	}
	lines, notes, err := c.compare(ctx, []candidate{
		{"one rank", training{Task: t, ranks: 1, graph: "all", sync: "asp"}},
		{"8 ranks, every batch", training{Task: t, ranks: ranks, graph: "all", sync: "bsp"}},
		{"8 ranks, once a pass", training{Task: once, ranks: ranks, graph: "all", sync: "bsp"}},
	})
	return figure{
		Name: "malt-passes-" + t.Name, Title: "Objective by passes, " + t.Name,
		X: "passes over all examples", Y: "excess objective", LogX: true, LogY: true,
		Notes: fmt.Sprintf("%v, %d examples a second and rank; %s", t, t.Rate, notes),
		Lines: lines,
	}, err
}
