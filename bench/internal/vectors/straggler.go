// SPDX-License-Identifier: Apache-2.0

package vectors

import (
	"context"
	"fmt"

	"github.com/gvw-project/gvw/bench/internal/task"
)

// modes are the synchronies that are compared.
var modes = []string{"bsp", "asp", "ssp:8", "notify_ack"}

// SlowRank compares the synchronies where one of eight ranks is four times slower throughout (MALT, Fig. 9).
func SlowRank(ctx context.Context, data string) ([]figure, error) {
	return bySynchrony(ctx, data, figure{Name: "malt-straggler", Title: "Objective by time, one of 8 ranks four times slower"},
		"rank 7 has a quarter of this rate", func(t *training) { t.slowRank, t.slow = 7, 4 })
}

// Stalls compares the synchronies where each rank sometimes is slow: one batch in ten takes ten times as long.
func Stalls(ctx context.Context, data string) ([]figure, error) {
	return bySynchrony(ctx, data, figure{Name: "malt-stalls", Title: "Objective by time, one batch in ten ten times slower"},
		"a tenth of the batches takes ten times as long", func(t *training) { t.stall = 0.1 })
}

// bySynchrony compares the synchronies on splice.
func bySynchrony(ctx context.Context, data string, f figure, what string, disturb func(*training)) ([]figure, error) {
	t, err := task.Splice(data)
	if err != nil {
		return nil, err
	}
	c := comparison{
		goal:     0.02,
		x:        func(_ training, s state) float64 { return s.after.Seconds() },
		describe: func(_ training, s state) string { return fmt.Sprintf("%.2f s", s.after.Seconds()) },
	}
	var runs []candidate
	for _, mode := range modes {
		run := training{Task: t, ranks: 8, graph: "all", sync: mode}
		disturb(&run)
		runs = append(runs, candidate{mode, run})
	}
	lines, notes, err := c.compare(ctx, runs)
	f.X, f.Y, f.LogY, f.Lines = "seconds", "excess objective", true, lines
	f.Notes = fmt.Sprintf("%v, graph all, %d examples a second and rank, and %s; models of rank 0; %s", t, t.Rate, what, notes)
	return []figure{f}, err
}
