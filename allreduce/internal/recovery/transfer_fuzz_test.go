// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"

	"github.com/gvw-project/gvw/internal/crc32c"
	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

var testEpoch = protocol.Epoch{Term: 3, N: 5, Incarnation: 0x1122334455667788}

// FuzzWant reads anything as what a rank asks another one for.
func FuzzWant(f *testing.F) {
	f.Add(request{at: client.Point{Epoch: testEpoch, Step: 7}, what: protocol.PayloadState}.appendTo(nil))
	f.Add(make([]byte, requestSize))
	f.Fuzz(func(t *testing.T, b []byte) {
		w, err := decodeRequest(b)
		if (err == nil) != (len(b) == requestSize) {
			t.Fatalf("%d bytes: %v", len(b), err)
		}
		if err != nil {
			return
		}
		if again, err := decodeRequest(w.appendTo(nil)); again != w || err != nil {
			t.Errorf("%+v became %+v, %v", w, again, err)
		}
		_ = w.what.String()
	})
}

// canned is a connection from which bytes come that are there already.
type canned struct {
	net.Conn
	io.Reader
}

func (c canned) Read(b []byte) (int, error) { return c.Reader.Read(b) }

func (canned) SetDeadline(time.Time) error { return nil }

// FuzzTake reads anything as the state of another rank: never more than was sent, and
// nothing whose checksum is wrong.
func FuzzTake(f *testing.F) {
	part := func(kind byte, b []byte) []byte {
		fr := link.Frame{Kind: kind, Flags: link.FlagSum, Length: uint32(len(b)), Sum: crc32c.Checksum(b)}
		return append(fr.Append(nil), b...)
	}
	f.Add(append(part(link.FrameData, []byte("state")), part(frameEnd, nil)...))
	f.Add(part(frameRefused, []byte("not yet")))
	f.Add(part(frameStateOnly, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := &frameReader{c: canned{Reader: bytes.NewReader(b)}, patience: time.Second, progress: newTransfer()}
		n, err := io.Copy(io.Discard, r)
		if n > int64(len(b)) {
			t.Errorf("%d bytes became %d", len(b), n)
		}
		if err == nil && r.err != io.EOF {
			t.Errorf("an end that is none: %v", r.err)
		}
	})
}
