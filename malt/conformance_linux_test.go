// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"os"
	"testing"

	"github.com/gvw-project/gvw/allreduce/verbs/verbstest"
)

// moreFabrics are the ways of Linux.
func moreFabrics() []fabric {
	if os.Getenv("GVW_RDMA_GUEST") != "" {
		return []fabric{{name: "Soft-RoCE", written: true, job: func(t testing.TB, total int, cfg Config) *cluster {
			cfg.Verbs, cfg.NoSharedMemory = "auto", true
			return newLoopback(t, total, cfg)
		}}}
	}
	return []fabric{
		{name: "shared memory", written: true, job: newLoopback},
		{name: "verbs", written: true, job: newVerbsJob},
	}
}

// newVerbsJob is a job over the loopback whose updates go over RDMA devices in memory. When it is closed,
// nothing of these is left open.
func newVerbsJob(t testing.TB, total int, cfg Config) *cluster {
	t.Helper()
	f := verbstest.New(uint64(total), verbstest.Device("fake0", "10.77.0.1"))
	t.Cleanup(func() {
		if left := f.Left(); left != "" {
			t.Errorf("left open: %s", left)
		}
	})
	cfg.Verbs, cfg.NoSharedMemory, cfg.library = "auto", true, f
	return newLoopback(t, total, cfg)
}
