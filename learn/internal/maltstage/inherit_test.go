// SPDX-License-Identifier: Apache-2.0

package maltstage

import (
	"slices"
	"testing"

	"github.com/gvw-project/gvw/malt"
	"github.com/gvw-project/gvw/optim/outer"
	"github.com/gvw-project/gvw/optim/sgd"
)

// A replacement has the weights of its source, the weights after the last step of the outer optimiser, and their
// velocities: the next merge has the same result on both.
func TestReplacementInheritsVelocities(t *testing.T) {
	config := Config{Sync: "bsp", Outer: outer.Config{Rate: 0.7, Momentum: 0.9}}
	c, fresh := newCluster(t, "all", 2, sgd.Flags{}, config), newCluster(t, "all", 2, sgd.Flags{}, config)
	source, replacement := c.mixers[0], fresh.mixers[0]
	ours := source.take(newOuterState(config, source.table))
	for range 5 {
		c.learn(0, 1, 3, 9)
		c.learn(1, -1, 3, 11)
		c.exchange()
	}
	if !slices.ContainsFunc(ours.velocities, func(v float32) bool { return v != 0 }) {
		t.Fatal("the source has no velocity")
	}
	state := trained{[]float64{1, 2}, source.table, ours}.append(nil)
	theirs := newOuterState(config, replacement.table)
	x := trained{make([]float64, 2), replacement.table, theirs}
	if err := x.read(state[1:]); err == nil {
		t.Error("a state that is too short was accepted")
	}
	if err := x.read(state); err != nil {
		t.Fatal(err)
	}
	theirs = replacement.take(theirs)
	if !slices.Equal(x.sums, []float64{1, 2}) || !slices.Equal(theirs.weights, ours.weights) || !slices.Equal(theirs.velocities, ours.velocities) {
		t.Error("the replacement has another state than its source")
	}
	update := []malt.Incoming[float32]{{Rank: 1, Iteration: 6, Factor: 1, Indices: []uint32{3, 67, 131}, Values: []float32{2, 1, 1}}}
	for _, m := range []*mixer{source, replacement} {
		m.sent.clear()
		m.merge(update)
	}
	if got, want := replacement.table.get(3), source.table.get(3); got != want {
		t.Errorf("after the next merge: got %+v, want %+v", got, want)
	}
}
