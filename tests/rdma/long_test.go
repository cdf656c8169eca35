// SPDX-License-Identifier: Apache-2.0

//go:build long

package rdma

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestAllInGuest runs all reductions with every number of ranks, over two devices.
func TestAllInGuest(t *testing.T) {
	m, dir := machine(t)
	test := filepath.Join(dir, "allreduce.test")
	build(t, "test", "-c", "-tags", "rdma", "-o", test, "../../allreduce")
	m.Add(test, "t/allreduce.test")
	command := "rc=0\nGVW_GUEST_ALL=1 /t/allreduce.test -test.v -test.timeout 10m -test.run '^TestGuestConformance$' || rc=1\n"
	if count := runInGuest(t, m, command, 12*time.Minute); count < 5 {
		t.Errorf("%d tests have run in the guest, want 5", count)
	}
}

// TestStormInGuest runs many jobs of TestGuestStorm in tests/maltstorm; STORM is their number.
func TestStormInGuest(t *testing.T) {
	m, dir := machine(t)
	test := filepath.Join(dir, "maltstorm.test")
	build(t, "test", "-c", "-tags", "rdma", "-o", test, "../maltstorm")
	m.Add(test, "t/maltstorm.test")
	command := fmt.Sprintf("rc=0\nSTORM=%s STORM_SEED=%s /t/maltstorm.test -test.v -test.timeout 40m -test.run '^TestGuestStorm$' || rc=1\n",
		cmp.Or(os.Getenv("STORM"), "48"), cmp.Or(os.Getenv("STORM_SEED"), "1"))
	if count := runInGuest(t, m, command, 42*time.Minute); count != 1 {
		t.Errorf("%d tests have run in the guest, want 1", count)
	}
}
