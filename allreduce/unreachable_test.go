// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"strings"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce/transport/mem"
)

// TestALoopbackAddressIsNamedSoon checks that a rank that advertises a loopback address to other
// hosts is named long before DialTimeout, with the address that the server sees.
func TestALoopbackAddressIsNamedSoon(t *testing.T) {
	inBubble(t, 3, Config{Advertise: "127.0.0.1"}, func(t *testing.T, j *testJob, _ *mem.Network) {
		start := time.Now()
		errs := j.all(func(rank int) error {
			return j.groups[rank].Ready(ctx, Shard{})
		})
		for rank, err := range errs {
			for _, want := range []string{"advertises 127.0.0.1:", "which each machine resolves to itself", "the server observes it at h", "(allreduce.Config.Advertise)"} {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("rank %d: got %v, want %q", rank, err, want)
				}
			}
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// TestWiringReportsBothAddresses checks that two neighbours that cannot connect both report the
// advertised address and the address that the server sees.
func TestWiringReportsBothAddresses(t *testing.T) {
	inBubble(t, 2, Config{DialTimeout: 5 * time.Second, Advertise: "10.9.9.9"}, func(t *testing.T, j *testJob, _ *mem.Network) {
		errs := j.all(func(rank int) error { return j.groups[rank].Ready(ctx, Shard{}) })
		for rank, err := range errs {
			for _, want := range []string{"rank 1 advertises 10.9.9.9:", "the server observes it at h1, and rank 0 at h0", "advertise h1", "no answer within 5s"} {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("rank %d: got %v, want %q", rank, err, want)
				}
			}
			if !strings.Contains(err.Error(), "which has not connected") && !strings.Contains(err.Error(), "which this rank has not reached") {
				t.Errorf("rank %d: got %v", rank, err)
			}
		}
	})
}
