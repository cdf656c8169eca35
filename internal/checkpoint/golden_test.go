// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"encoding/hex"
	"testing"

	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// The bytes of a header are those of earlier releases.
func TestHeaderBytes(t *testing.T) {
	h := header{options: [32]byte{1, 31: 2}, at: client.Point{Epoch: protocol.Epoch{Term: 0x0102, N: 0x0304, Incarnation: 0x0506}, Step: 7}, generation: 8, run: "run", text: "bits=18"}
	for name, c := range map[string]struct {
		bytes []byte
		want  string
	}{
		"header": {h.appendTo(nil), "677677636b70740201000000000000000000000000000000000000000000000000000000000000020201000004030000060500000000000007000000000000000800000003000700968421a672756e626974733d3138"},
	} {
		if got := hex.EncodeToString(c.bytes); got != c.want {
			t.Errorf("%s: got and want\n%s\n%s", name, got, c.want)
		}
	}
}
