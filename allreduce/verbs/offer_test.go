// SPDX-License-Identifier: Apache-2.0

package verbs

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func anOffer() offer {
	return offer{
		queue: 17, psn: 1<<24 - 1, lid: 3, mtu: 4096, address: 1 << 40, keysChange: true,
		slotSize: slotSize, keys: [windowSlots]uint32{0xdeadbeef, 7: 1}, messages: dataSlots, small: smallMessage, gid: [16]byte{10: 255, 11: 255, 12: 10, 13: 77, 15: 1},
	}
}

func TestOfferRoundTrip(t *testing.T) {
	want := anOffer()
	got, err := decodeOffer(want.appendTo(nil))
	if d := cmp.Diff(want, got, cmp.AllowUnexported(offer{})); d != "" || err != nil {
		t.Errorf("%v\n%s", err, d)
	}
}

// FuzzOffer checks that decodeOffer either fails, or returns an offer that encodes to the same
// bytes and is within the limits that a stream relies on.
func FuzzOffer(f *testing.F) {
	o := anOffer()
	f.Add(o.appendTo(nil))
	o.slotSize = 0
	f.Add(o.appendTo(nil))
	f.Add([]byte("short"))
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := decodeOffer(b)
		if err != nil {
			return
		}
		if !bytes.Equal(o.appendTo(nil), b) {
			t.Errorf("%x becomes %x", b, o.appendTo(nil))
		}
		if o.messages == 0 || o.slotSize == 0 || o.small < creditSize || o.mtu < 256 {
			t.Errorf("%+v", o)
		}
	})
}
