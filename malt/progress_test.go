// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"testing"

	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// TestOnlyNewRanksLackValues begins with a membership in which the server counts the rank as behind others: the first
// one had ended before this rank began it.
func TestOnlyNewRanksLackValues(t *testing.T) {
	for policy, want := range map[OnLoss]bool{Abort: true, Shrink: true, Wait: false, Grow: false} {
		g := newGroup(Config{OnLoss: policy})
		first, second := protocol.Epoch{Term: 1, N: 1}, protocol.Epoch{Term: 1, N: 2}
		if at := g.progress.Seal(first); at.Completed != (client.Point{}) {
			t.Errorf("%v: a rank that has begun nothing is at %v, want the beginning", policy, at.Completed)
		}
		g.progress.begin(&client.Wiring{Epoch: second, Resume: client.Point{Epoch: first, Step: 1}, Missing: &client.Missing{Source: 1}})
		if got := g.progress.hasValues(); got != want {
			t.Errorf("%v: the rank has values: %v, want %v", policy, got, want)
		}
	}
}
