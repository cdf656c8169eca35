// SPDX-License-Identifier: Apache-2.0

//go:build rdma && linux

package malt

import (
	"os"
	"testing"
)

// TestGuestVectors runs the conformance suite, and a training with a killed rank, over two Soft-RoCE devices.
// See tests/rdma.
func TestGuestVectors(t *testing.T) {
	if os.Getenv("GVW_RDMA_GUEST") == "" {
		t.Skip("it runs in the guest of tests/rdma")
	}
	t.Run("Delivery", TestDelivery)
	t.Run("Overwriting", TestOldestAreOverwritten)
	t.Run("BackPressure", TestBackPressure)
	t.Run("Segments", TestSegmentsOnAllWays)
	t.Run("AtomicGather", TestAtomicGatherIsNeverTorn)
	t.Run("LostPeer", TestPeerIsLost)
	t.Run("KilledProcess", func(t *testing.T) { processIsKilled(t, "verbs") })
}
