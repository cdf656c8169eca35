// SPDX-License-Identifier: Apache-2.0

package mesh

import (
	"encoding/hex"
	"testing"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// The bytes of a hello are those of earlier releases.
func TestHelloBytes(t *testing.T) {
	h := hello{nonce: [16]byte{1, 2, 15: 16}, epoch: protocol.Epoch{Term: 0x0102, N: 0x0304, Incarnation: 0x0506}, from: 7, to: 8, total: 9}
	pull := h
	pull.pull = true
	for name, c := range map[string]struct {
		bytes []byte
		want  string
	}{
		"data": {h.appendTo(nil), "67767764617461060102000000000000000000000000001002010000040300000605000000000000070000000800000009000000ac412dc4"},
		"pull": {pull.appendTo([]byte{7})[1:], "67767770756c6c06010200000000000000000000000000100201000004030000060500000000000007000000080000000900000049772cf9"},
	} {
		if got := hex.EncodeToString(c.bytes); got != c.want {
			t.Errorf("%s: got and want\n%s\n%s", name, got, c.want)
		}
	}
}
