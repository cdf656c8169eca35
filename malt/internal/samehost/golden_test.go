// SPDX-License-Identifier: Apache-2.0

package samehost

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/gvw-project/gvw/internal/shm"
)

// The bytes of an offer are those of earlier releases, and are decoded to the same location.
func TestLocationBytes(t *testing.T) {
	where := shm.Location{PID: 0x0102, FD: -3, Bytes: 1 << 33, Arena: 5, Nonce: [16]byte{1, 15: 2}}
	const want = "02010000fdffffff0000000002000000050000000000000001000000000000000000000000000002"
	b := appendLocation(nil, where)
	if got := hex.EncodeToString(b); got != want || len(b) != locationSize {
		t.Errorf("location: got and want\n%s\n%s", got, want)
	}
	if got, err := decodeLocation(b); got != where || err != nil {
		t.Errorf("%+v became %+v, %v", where, got, err)
	}
}

// FuzzLocation checks that any bytes are decoded or refused without a panic, and that a decoded
// location is encoded to the same bytes.
func FuzzLocation(f *testing.F) {
	f.Add(appendLocation(nil, shm.Location{PID: 1, FD: 2, Bytes: 3, Arena: 4}))
	f.Fuzz(func(t *testing.T, b []byte) {
		where, err := decodeLocation(b)
		if (err == nil) != (len(b) == locationSize) {
			t.Fatalf("%d bytes: %v", len(b), err)
		}
		if err == nil && !bytes.Equal(appendLocation(nil, where), b) {
			t.Errorf("% x became %+v", b, where)
		}
	})
}
