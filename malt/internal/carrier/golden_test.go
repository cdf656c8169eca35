// SPDX-License-Identifier: Apache-2.0

package carrier

import (
	"encoding/hex"
	"testing"
)

// The bytes of messages are those of earlier releases.
func TestMessageBytes(t *testing.T) {
	for name, c := range map[string]struct {
		bytes []byte
		want  string
	}{
		"update":   {updateHead{Head: Head{Round: 1, Iteration: 2, Sent: -3, Scale: 0.5}, object: 4, size: 5, sum: 6}.append(nil), "0100000000000000040000000000000001000000000000000200000000000000fdffffffffffffff05000000000000000600000000000000000000000000e03f"},
		"describe": {appendDescribe([]byte{1}, 2, []byte("abc"))[1:], "02000000000000000200000003000000616263"},
		"note":     {note{kind: noteLeft, object: 3, number: 4}.append(nil), "02000000030000000400000000000000"},
	} {
		if got := hex.EncodeToString(c.bytes); got != c.want {
			t.Errorf("%s: got and want\n%s\n%s", name, got, c.want)
		}
	}
}

// The messages of an update are coded without memory.
func TestCodingAllocatesNothing(t *testing.T) {
	h, n := updateHead{Head: Head{Round: 1, Scale: 1}, object: 2, size: 3}, note{kind: noteAck, number: 4}
	dst := make([]byte, 0, updateSize)
	if allocs := testing.AllocsPerRun(100, func() {
		if got, err := decodeUpdate(h.append(dst)); err != nil || got != h {
			t.Error(got, err)
		}
		if got, err := decodeNote(n.append(dst)); err != nil || got != n {
			t.Error(got, err)
		}
	}); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
