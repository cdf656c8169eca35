// SPDX-License-Identifier: Apache-2.0

package link

import (
	"testing"

	"github.com/gvw-project/gvw/allreduce/auth"
)

// TestEveryBitOfATaggedFrame checks that frames of all kinds are refused after the change of any
// bit.
func TestEveryBitOfATaggedFrame(t *testing.T) {
	key, said := (*auth.Secret)(nil).Epoch(auth.Scope{}), []byte("hello")
	x := key.Exchange(said)
	for kind, payload := range map[byte][]byte{
		FrameCall:       []byte("a call"),
		FrameData:       []byte("a part"),
		FrameProgress:   make([]byte, MaxProgress),
		FrameFault:      []byte("a fault"),
		FrameRingOffer:  make([]byte, MaxRingOffer),
		FrameRingSwitch: {1, 0, 0, 0},
		FrameUpgrade:    {2},
	} {
		out := Tags{Out: x.Tags(auth.Client)}
		good := out.AppendFrame(nil, kind, payload)
		for bit := -1; bit < 8*len(good); bit++ {
			b := append([]byte(nil), good...)
			if bit >= 0 {
				b[bit/8] ^= 1 << (bit % 8)
			}
			in := Tags{In: x.Tags(auth.Client)}
			f, err := DecodeFrame(b, true)
			if err == nil {
				if more := int(f.Length) - len(payload); more > 0 {
					b = append(b, make([]byte, more)...) // of what would come next
				}
				err = in.Check(f, b[LeadSize:TagFrameSize], b[TagFrameSize:][:f.Length])
			}
			if (err == nil) != (bit < 0) {
				t.Errorf("kind %d, bit %d of byte %d: %v", kind, bit%8, bit/8, err)
			}
		}
	}
}
