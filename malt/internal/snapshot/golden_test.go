// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"bytes"
	"encoding/hex"
	"testing"
)

// The bytes of a snapshot are those of earlier releases.
func TestSnapshotBytes(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, []Object{{ID: 1, Description: []byte("name=v"), Iteration: 2, State: []byte{3, 4}}, {ID: 5}}); err != nil {
		t.Fatal(err)
	}
	const want = "6776776d616c740102000000000000000100000006000000020000000000000002000000000000006e616d653d7603044836fb74050000000000000000000000000000000000000000000000bac953dc"
	if got := hex.EncodeToString(b.Bytes()); got != want {
		t.Errorf("snapshot: got and want\n%s\n%s", got, want)
	}
}
