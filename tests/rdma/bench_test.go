// SPDX-License-Identifier: Apache-2.0

//go:build rdma

package rdma

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestBench prints figures from the guest, for bench/README.md:
//
//	GVW_RDMA_BENCH=1 go test -tags rdma -count=1 -v -run TestBench ./tests/rdma
//
// It needs Debian's perftest. The guest has one processor and a clock that counts instructions:
// the load of the host does not matter. With /verbs or /allreduce after TestBench only the streams
// are measured, or only the collectives.
func TestBench(t *testing.T) {
	if os.Getenv("GVW_RDMA_BENCH") == "" {
		t.Skip("GVW_RDMA_BENCH=1 asks for it: it asserts nothing of speed")
	}
	for name, pkg := range map[string]string{"verbs": "../../allreduce/verbs", "allreduce": "../../allreduce"} {
		t.Run(name, func(t *testing.T) {
			m, dir := machine(t)
			m.CPUs, m.Counted = 1, true
			test := filepath.Join(dir, name+".test")
			build(t, "test", "-c", "-tags", "rdma", "-o", test, pkg)
			m.Add(test, "t/figures.test")
			for _, tool := range []string{"ib_write_bw", "ib_send_bw", "ib_send_lat"} {
				m.Add(filepath.Join("/usr/bin", tool), "t/"+tool)
			}
			within, cancel := context.WithTimeoutCause(t.Context(), 9*time.Minute, errors.New("it has taken 9 minutes"))
			defer cancel()
			code, err := m.Run(within, "GVW_RDMA_BENCH=1 /t/figures.test -test.v -test.run '^TestFigures$'\n", os.Stdout)
			need(t, err)
			if code != 0 {
				t.Errorf("it ends with %d", code)
			}
		})
	}
}
