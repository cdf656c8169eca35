// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"testing"

	"github.com/gvw-project/gvw/allreduce/verbs/verbstest"
)

// TestStormOfWrites is TestStorm with updates that are written by RDMA, over devices in memory: queue pairs break and
// ranks are lost while writes are on their way, and at the end of each job no memory, queue pair or device is left open.
// GVW_STORM_WRITES is the number of jobs.
func TestStormOfWrites(t *testing.T) {
	all := storms(t, seeds(t, "GVW_STORM_WRITES", 20, 6), func(t *testing.T) (Config, func()) {
		f := verbstest.New(1, verbstest.Device("fake0", "10.77.0.1"))
		t.Cleanup(func() {
			if left := f.Left(); left != "" {
				t.Errorf("left open: %s", left)
			}
		})
		return Config{Verbs: "auto", NoSharedMemory: true, library: f}, f.BreakAll
	})
	if all.written == 0 {
		t.Errorf("no update was written by RDMA: %v", all)
	}
}
