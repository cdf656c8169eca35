// SPDX-License-Identifier: Apache-2.0

package run

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gvw-project/gvw/internal/monitor/history"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// The page reports whether the launcher has killed a process.
func TestKillOnThePage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newJobWatch(func() protocol.ServerStatus { return protocol.ServerStatus{} }, 7, 3, 1)
		go func() {
			for range 2 {
				k := <-w.kills
				k.Killed <- k.Rank == 1
			}
		}()
		if err := w.kill(history.ID{UniqueID: 7}, 1); err != nil {
			t.Error(err)
		}
		for rank, want := range []string{2: "a spare holds the rank", 3: "rank 3 is no process of this launcher"} {
			if want == "" {
				continue
			}
			if err := w.kill(history.ID{UniqueID: 7}, rank); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("rank %d: got %v, want %q", rank, err, want)
			}
		}
		if err := w.kill(history.ID{UniqueID: 7}, 1); err == nil || !strings.Contains(err.Error(), "did not respond within 5s") {
			t.Errorf("after the end of the launcher: got %v", err)
		}
	})
}
