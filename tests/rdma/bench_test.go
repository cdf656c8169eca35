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
// It needs Debian's perftest.
func TestBench(t *testing.T) {
	if os.Getenv("GVW_RDMA_BENCH") == "" {
		t.Skip("GVW_RDMA_BENCH=1 asks for it: it asserts nothing of speed")
	}
	m, dir := machine(t)
	test := filepath.Join(dir, "verbs.test")
	build(t, "test", "-c", "-tags", "rdma", "-o", test, "../../allreduce/verbs")
	m.Add(test, "t/verbs.test")
	for _, name := range []string{"ib_write_bw", "ib_send_lat"} {
		m.Add(filepath.Join("/usr/bin", name), "t/"+name)
	}
	within, cancel := context.WithTimeoutCause(t.Context(), 9*time.Minute, errors.New("it has taken 9 minutes"))
	defer cancel()
	code, err := m.Run(within, "GVW_RDMA_BENCH=1 /t/verbs.test -test.v -test.run '^TestFigures$'\n", os.Stdout)
	need(t, err)
	if code != 0 {
		t.Errorf("it ends with %d", code)
	}
}
