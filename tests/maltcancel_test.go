// SPDX-License-Identifier: Apache-2.0

//go:build linux

package tests

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// TestCancelEndsBothJobs: gvw cancel ends the collectives and the shared vectors of a job with --malt, which gvw jobs
// shows in one line. Its ranks print the reason, and are not taken for lost ones.
func TestCancelEndsBothJobs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	parts := shards(t, dir, writeFile(t, filepath.Join(dir, "s.vw"), recoveryData(t)), 2)
	for _, onLoss := range []string{"abort", "grow"} {
		port := startServer(t)
		ranks := make([]*process, 2)
		for rank := range ranks {
			args := append(clusterArgs(port, 6, rank, 2), "-d", parts[rank], "-f", fmt.Sprintf("m.%d", rank), "--run_id", "one",
				"--passes", "1000", "-k", "--cache_file", fmt.Sprintf("cache.%d", rank), "--holdout_off",
				"--malt", "all", "--sync", "bsp", "--cb_size", "5", "--on_loss", onLoss)
			ranks[rank] = startWith(t, dir, nil, []string{"GVW_FAULT=exchange:3,delay:100ms"}, gvwBin, args...)
		}
		jobs := func() []protocol.JobStatus {
			st, err := client.Status(t.Context(), nil, "127.0.0.1:"+port, nil)
			if err != nil {
				return nil
			}
			return st.Jobs
		}
		waitFor(t, "the vectors to be wired", func() bool {
			return slices.ContainsFunc(jobs(), func(j protocol.JobStatus) bool {
				return strings.HasSuffix(j.RunKey, "+malt") && j.State == "wired"
			})
		})
		if out := gvw(t, dir, "jobs", "--span_server_port", port).stdout; strings.Count(out, "6/one") != 1 || !strings.Contains(out, "vectors wired") {
			t.Errorf("%s: gvw jobs: got %q, want one line for both jobs", onLoss, out)
		}
		gvw(t, dir, "cancel", "--span_server_port", port, "6/one", "--reason", "wrong data")
		for rank, p := range ranks {
			p.wait().ends(t, fmt.Sprintf("%s: rank %d", onLoss, rank), 6, "wrong data")
		}
		if left := jobs(); len(left) > 0 {
			t.Errorf("%s: the server still has %d jobs", onLoss, len(left))
		}
		if out := gvw(t, dir, "jobs", "--all", "--span_server_port", port).stdout; strings.Count(out, "cancelled: wrong data") != 1 {
			t.Errorf("%s: gvw jobs --all: got %q, want one cancelled job", onLoss, out)
		}
		nothingLeft(t, dir, "m.0", "m.1")
	}
}
