// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"encoding/binary"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/internal/crc32c"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// The handshake between two ranks as docs/protocol.md describes it, for tests that take part in
// it or change it on the way.
const (
	helloSize        = 56
	pullMagic        = "gvwpull\x06"
	handshakeTimeout = 10 * time.Second
	maxPending       = 512
)

// newHello returns the first message of a rank.
func newHello(e protocol.Epoch, from, to, total int, pull bool) []byte {
	le := binary.LittleEndian
	b := []byte("gvwdata\x06")
	if pull {
		b = []byte(pullMagic)
	}
	nonce := auth.Nonce()
	b = append(b, nonce[:16]...)
	b = le.AppendUint32(b, e.Term)
	b = le.AppendUint32(b, e.N)
	b = le.AppendUint64(b, e.Incarnation)
	for _, n := range []int{from, to, total} {
		b = le.AppendUint32(b, uint32(n))
	}
	return le.AppendUint32(b, crc32c.Checksum(b))
}

// epochKey returns the key of the members of an epoch.
func epochKey(c Config, w *client.Wiring) auth.Key {
	return c.Credentials.Epoch(auth.Scope{
		UniqueID: c.Job.UniqueID, RunKey: c.Job.RunKey,
		Term: w.Epoch.Term, N: w.Epoch.N, Incarnation: w.Epoch.Incarnation, Token: w.Token,
	})
}
