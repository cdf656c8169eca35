// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
)

// passes compares eight ranks that send their models to each other every batch with one rank, and with averaging the
// models once a pass (MALT, Fig. 4 and 5).
func passes(ctx context.Context, data string) ([]figure, error) {
	text, err := textTask(data)
	if err != nil {
		return nil, err
	}
	splice, err := spliceTask(data)
	if err != nil {
		return nil, err
	}
	var figures []figure
	for _, t := range []task{text, splice, denseTask()} {
		f, err := passesOf(ctx, t)
		if err != nil {
			return nil, err
		}
		figures = append(figures, f)
	}
	return figures, nil
}

// passesOf measures one task.
func passesOf(ctx context.Context, t task) (figure, error) {
	const ranks = 8
	once := t
	once.batch = len(t.examples) / ranks
	c := comparison{
		goal: 0.02,
		x:    training.passed,
		describe: func(t training, s state) string {
			return fmt.Sprintf("%.2f passes, %.2f s", t.passed(s), s.after.Seconds())
		},
	}
	lines, notes, err := c.compare(ctx, []candidate{
		{"one rank", training{task: t, ranks: 1, graph: "all", sync: "asp"}},
		{"8 ranks, every batch", training{task: t, ranks: ranks, graph: "all", sync: "bsp"}},
		{"8 ranks, once a pass", training{task: once, ranks: ranks, graph: "all", sync: "bsp"}},
	})
	return figure{
		Name: "malt-passes-" + t.name, Title: "Objective by passes, " + t.name,
		X: "passes over all examples", Y: "excess objective", LogX: true, LogY: true,
		Notes: fmt.Sprintf("%v, %d examples a second and rank; %s", t, t.rate, notes),
		Lines: lines,
	}, err
}
