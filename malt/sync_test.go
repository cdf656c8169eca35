// SPDX-License-Identifier: Apache-2.0

package malt

import "testing"

func TestCheckSyncAcceptsWhatVectorsAccept(t *testing.T) {
	for text, ok := range map[string]bool{"": true, "asp": true, "bsp": true, "ssp:3": true, "notify_ack": true, "ssp": false, "ssp:-1": false, "now": false} {
		if err := CheckSync(text); (err == nil) != ok {
			t.Errorf("%q: got %v, want an error: %v", text, err, !ok)
		}
	}
}
