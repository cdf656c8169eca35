// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"encoding/hex"
	"testing"

	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// The bytes of a request are those of earlier releases.
func TestRequestBytes(t *testing.T) {
	r := request{at: client.Point{Epoch: protocol.Epoch{Term: 0x0102, N: 0x0304, Incarnation: 0x0506}, Step: 7}, what: protocol.PayloadState}
	for name, c := range map[string]struct {
		bytes []byte
		want  string
	}{
		"request": {r.appendTo(nil), "0201000004030000060500000000000007000000000000000200000000000000"},
	} {
		if got := hex.EncodeToString(c.bytes); got != c.want {
			t.Errorf("%s: got and want\n%s\n%s", name, got, c.want)
		}
	}
}
