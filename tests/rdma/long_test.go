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
