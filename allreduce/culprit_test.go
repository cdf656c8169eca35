// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce/transport/mem"
)

// TestResetNamesTheLink: connections between two ranks are reset in a job that ends with a loss.
// All ranks must name this link, also those that saw another edge end as a consequence, and must
// not blame ranks that have not entered the collective.
func TestResetNamesTheLink(t *testing.T) {
	for _, pair := range [][2]string{{"h0", "h1"}, {"h1", "h2"}, {"h2", "h3"}} {
		inBubble(t, 4, Config{Stall: 10 * time.Second}, func(t *testing.T, j *testJob, n *mem.Network) {
			j.ready()
			go func() {
				time.Sleep(5 * time.Second)
				if n.Reset(pair[0], pair[1]) == 0 {
					t.Errorf("no connection between %v to reset", pair)
				}
			}()
			for rank, err := range j.all(func(rank int) error {
				if rank == 3 {
					time.Sleep(8 * time.Second) // at work
				}
				v := make([]float32, 1000)
				return j.groups[rank].AllReduce(ctx, Vec(v), Sum)
			}) {
				lost, ok := errors.AsType[*LostError](err)
				want := "the edge between rank " + pair[0][1:]
				back := "the edge between rank " + pair[1][1:]
				if !ok || !strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), back) || !strings.Contains(err.Error(), "its connection broke") ||
					pair[0] != "h"+string(rune('0'+lost.Rank)) && pair[1] != "h"+string(rune('0'+lost.Rank)) || strings.Contains(lost.Why, "not entered") {
					t.Errorf("%v reset: rank %d: %v, want a LostError that names the edge between them", pair, rank, err)
				}
			}
		})
	}
}
