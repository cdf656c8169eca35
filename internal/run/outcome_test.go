// SPDX-License-Identifier: Apache-2.0

package run

import (
	"syscall"
	"testing"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/launch"
	"github.com/gvw-project/gvw/internal/monitor/cause"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// A rank that the launcher stops since another was killed is not the cause.
func TestStopsOfTheLauncherAreNoCause(t *testing.T) {
	t.Parallel()
	pl, l := &plan{workers: make([]*cli.Settings, 2)}, &logs{dir: t.TempDir(), workers: 2, newest: make([]int64, 2)}
	for kind, want := range map[cause.Kind]string{cause.ToldToStop: "", cause.ProcessEnded: "; root cause: rank 0 did it"} {
		found := &protocol.FoundCause{Rank: 0, Kind: string(kind), Line: "rank 0 did it"}
		got := new(launcher).foundText(launch.Result{Rank: 1, Signal: syscall.SIGKILL}, "ended by signal 9", pl, l, found)
		if got != want {
			t.Errorf("%s: got %q, want %q", kind, got, want)
		}
	}
}
