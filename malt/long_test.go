// SPDX-License-Identifier: Apache-2.0

//go:build long

package malt

import "testing"

// TestNotifyAckLosesNoUpdateLong is TestNotifyAckLosesNoUpdate with 10,000 jobs.
func TestNotifyAckLosesNoUpdateLong(t *testing.T) {
	notifyAck(t, seeds(t, "GVW_MODEL_SEEDS", 10_000, 100))
}
