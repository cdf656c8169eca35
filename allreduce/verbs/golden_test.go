// SPDX-License-Identifier: Apache-2.0

package verbs

import (
	"encoding/hex"
	"testing"
)

// The bytes of an offer are those of earlier releases.
func TestOfferBytes(t *testing.T) {
	o := offer{queue: 1, psn: 2, lid: 3, mtu: 1024, slotSize: 1 << 20, address: 0x0405060708, keysChange: true, messages: 9, small: 10, gid: [16]byte{11, 15: 12}, keys: [windowSlots]uint32{13, 7: 14}}
	for name, c := range map[string]struct {
		bytes []byte
		want  string
	}{
		"offer": {o.appendTo(nil), "01000000020000000300000400001000080706050400000001000000090000000a000000020000000b00000000000000000000000000000c0d0000000000000000000000000000000000000000000000000000000e000000"},
	} {
		if got := hex.EncodeToString(c.bytes); got != c.want {
			t.Errorf("%s: got and want\n%s\n%s", name, got, c.want)
		}
	}
}
