// SPDX-License-Identifier: Apache-2.0

package vectors

import (
	"context"
	"fmt"

	"github.com/gvw-project/gvw/bench/internal/task"
	"github.com/gvw-project/gvw/optim/outer"
)

// Traffic compares graphs by the bytes that 16 ranks send until the objective is close to its least value (MALT,
// Fig. 10 and 11).
func Traffic(ctx context.Context, data string) ([]figure, error) {
	t, err := task.Splice(data)
	if err != nil {
		return nil, err
	}
	c := comparison{
		goal: 0.02,
		x:    func(_ training, s state) float64 { return s.mebibytes() },
		describe: func(t training, s state) string {
			return fmt.Sprintf("%.1f MiB, %.2f passes", s.mebibytes(), t.passed(s))
		},
	}
	run := func(graph string, o outer.Config) training {
		return training{Task: t, ranks: 16, graph: graph, sync: "bsp", outer: o}
	}
	lines, notes, err := c.compare(ctx, []candidate{
		{"all", run("all", outer.Config{})},
		{"halton", run("halton", outer.Config{})},
		{"exponential", run("exponential", outer.Config{})},
		{"one_peer", run("one_peer", outer.Config{})},
		{"one_peer, outer momentum", run("one_peer", outer.Config{Momentum: 0.5})},
	})
	return []figure{{
		Name: "malt-traffic", Title: "Objective by traffic, 16 ranks",
		X: "MiB sent by all ranks", Y: "excess objective", LogX: true, LogY: true,
		Notes: fmt.Sprintf("%v, bsp; %s", t, notes),
		Lines: lines,
	}}, err
}
