// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"

	"github.com/gvw-project/gvw/allreduce/auth"
)

// TestEveryBitOfATaggedFrame: of no kind of frame does one pass with a bit changed.
func TestEveryBitOfATaggedFrame(t *testing.T) {
	key, said := (*auth.Secret)(nil).Epoch(auth.Scope{}), []byte("hello")
	x := key.Exchange(said)
	for kind, payload := range map[byte][]byte{
		FrameCall:  (&CallID{}).appendTo(nil),
		FrameData:  []byte("a part"),
		frameNote:  note{seq: 1, Rank: 2}.appendTo(nil),
		frameFault: (&Failure{Code: FaultLost, By: 1, Rank: 2, Host: "h", Text: "t"}).appendTo(nil),
		frameOffer: make([]byte, OfferSize),
		frameTurn:  {1, 0, 0, 0},
		frameLift:  {liftReady},
	} {
		out := NewEdge(&Engine{Rank: 0}, 1)
		out.Tags.Out = x.Tags(auth.Client)
		good := out.appendFrame(nil, kind, payload)
		for bit := -1; bit < 8*len(good); bit++ {
			b := append([]byte(nil), good...)
			if bit >= 0 {
				b[bit/8] ^= 1 << (bit % 8)
			}
			in := NewEdge(&Engine{Rank: 1}, 0)
			in.Tags.In = x.Tags(auth.Client)
			f, err := decodeFrame(b, true)
			if err == nil {
				copy(in.inbox.tag[:], b[LeadSize:])
				in.inbox.frame = f
				if more := int(f.Length) - len(payload); more > 0 {
					b = append(b, make([]byte, more)...) // of what would come next
				}
				err = in.check(b[TagFrameSize:][:f.Length])
			}
			if (err == nil) != (bit < 0) {
				t.Errorf("kind %d, bit %d of byte %d: %v", kind, bit%8, bit/8, err)
			}
		}
	}
}
