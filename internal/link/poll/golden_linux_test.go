// SPDX-License-Identifier: Apache-2.0

package poll

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/internal/shm"
)

// The bytes of a ring offer are those of earlier releases, and are decoded to the same place.
// Offers of another length are refused.
func TestRingOfferBytes(t *testing.T) {
	where := shm.Location{PID: 0x0102, FD: -3, Bytes: 1 << 33, Nonce: [16]byte{1, 15: 2}}
	const want = "02010000" + "fdffffff" + "0000000002000000" + "01000000000000000000000000000002"
	b := appendWhere(nil, where)
	if got := hex.EncodeToString(b); got != want || len(b) != link.MaxRingOffer {
		t.Errorf("ring offer: got and want\n%s\n%s", got, want)
	}
	if got, err := decodeWhere(b); got != where || err != nil {
		t.Errorf("%+v became %+v, %v", where, got, err)
	}
	for _, b := range [][]byte{nil, b[:31], append(b, 0)} {
		if _, err := decodeWhere(b); err == nil {
			t.Errorf("an offer of %d bytes is accepted", len(b))
		}
	}
}

// FuzzRingOffer checks that any bytes are decoded or refused without a panic, and that a decoded
// offer is encoded to the same bytes.
func FuzzRingOffer(f *testing.F) {
	f.Add(appendWhere(nil, shm.Location{PID: 1, FD: 2, Bytes: 3}))
	f.Fuzz(func(t *testing.T, b []byte) {
		where, err := decodeWhere(b)
		if (err == nil) != (len(b) == link.MaxRingOffer) {
			t.Fatalf("%d bytes: %v", len(b), err)
		}
		if err == nil && !bytes.Equal(appendWhere(nil, where), b) {
			t.Errorf("% x became %+v", b, where)
		}
	})
}
