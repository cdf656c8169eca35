// SPDX-License-Identifier: Apache-2.0

package mesh

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

var testEpoch = protocol.Epoch{Term: 3, N: 5, Incarnation: 0x1122334455667788}

func FuzzDecodeHello(f *testing.F) {
	f.Add(hello{nonce: [16]byte{1}, epoch: testEpoch, from: 1, to: 2, total: 3}.appendTo(nil))
	f.Add([]byte(helloMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := decodeHello(b)
		if err == nil && !bytes.Equal(h.appendTo(nil), b) {
			t.Errorf("%x: decoded as %+v, which is another hello", b, h)
		}
	})
}

// A rank of another release is recognised by the first bytes of its hello.
func TestHelloOfAnotherVersion(t *testing.T) {
	b := hello{nonce: [16]byte{1}, from: 1, to: 0, total: 2}.appendTo(nil)
	b[7]--
	_, err := decodeHello(b)
	if want := fmt.Sprintf("got version %d of the protocol between ranks, want %d", b[7], b[7]+1); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}
