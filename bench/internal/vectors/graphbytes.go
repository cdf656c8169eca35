// SPDX-License-Identifier: Apache-2.0

package vectors

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"sync/atomic"

	"github.com/gvw-project/gvw/malt"
)

// GraphBytes measures the bytes that ranks send a round, graph by graph (MALT, Fig. 13).
func GraphBytes(ctx context.Context, _ string) ([]figure, error) {
	const length, rounds = 1 << 14, 48 // 48 is a multiple of each period of one_peer below
	formulas := []struct {
		graph   string
		updates func(n int) int // a round
	}{
		{"all", func(n int) int { return n * (n - 1) }},
		{"halton", func(n int) int { return n * bits.Len(uint(n-1)) }},
		{"exponential", func(n int) int { return n * bits.Len(uint(n-1)) }},
		{"star", func(n int) int { return 2 * (n - 1) }},
		{"tree", func(n int) int { return 2 * (n - 1) }},
		{"one_peer", func(n int) int { return n }},
	}
	f := figure{
		Name: "malt-bytes", Title: "Bytes a round by graph", X: "ranks", Y: "MiB a round", LogX: true, LogY: true,
	}
	worst := 0.0
	for _, formula := range formulas {
		l := line{Name: formula.graph}
		for _, n := range []int{4, 8, 16} {
			var bytes atomic.Int64
			err := job(ctx, n, malt.Config{}, &bytes, func(_ int, g *malt.Group) error {
				v, err := malt.NewVector[float32](g, "w", length, malt.VectorConfig{
					ObjectConfig: malt.ObjectConfig{Graph: formula.graph, Sync: "bsp"},
				})
				if err != nil {
					return err
				}
				for range rounds {
					if err := v.Scatter(ctx); err != nil {
						return err
					}
					if _, err := v.Gather(ctx, malt.AverageIncludingSelf); err != nil {
						return err
					}
				}
				return g.Done(ctx)
			})
			if err != nil {
				return nil, fmt.Errorf("%s, %d ranks: %w", formula.graph, n, err)
			}
			got, want := float64(bytes.Load())/rounds, float64(formula.updates(n)*length*4)
			worst = max(worst, math.Abs(got/want-1))
			l.Points = append(l.Points, point{X: float64(n), Y: got / (1 << 20)})
		}
		f.Lines = append(f.Lines, l)
	}
	f.Notes = fmt.Sprintf("%d values of float32, %d rounds of bsp; N(N-1), N log2 N, 2(N-1) and N updates of 64 KiB for all, "+
		"halton and exponential, star and tree, one_peer; the bytes of all connections differ from the formula by at most %.2f %%",
		length, rounds, 100*worst)
	return []figure{f}, nil
}
