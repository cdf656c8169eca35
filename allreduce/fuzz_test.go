// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/client"
)

// FuzzCall reads anything as the header of a collective: what passes the check is decoded,
// printed and compared without a panic, and encoded to something that passes, too.
func FuzzCall(f *testing.F) {
	c := testCall()
	f.Add(c.appendTo(nil))
	f.Add((&callID{}).appendTo(nil))
	f.Add(make([]byte, callFixed))
	f.Fuzz(func(t *testing.T, b []byte) {
		if checkCall(b) != nil {
			return
		}
		got := decodeCall(b)
		_, _ = callSeq(b), callDigest(b)
		_ = got.String()
		again := got.appendTo(nil)
		if err := checkCall(again); err != nil {
			t.Fatalf("%+v is encoded to what is no call: %v", got, err)
		}
		if callSeq(again) != callSeq(b) {
			t.Errorf("number %d became %d", callSeq(b), callSeq(again))
		}
	})
}

// FuzzWant reads anything as what a rank asks another one for.
func FuzzWant(f *testing.F) {
	f.Add(want{at: client.Point{Epoch: testEpoch, Step: 7}, what: client.LacksState}.appendTo(nil))
	f.Add(make([]byte, wantSize))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) != wantSize {
			return // the reader reads as many
		}
		w := decodeWant(b)
		if again := decodeWant(w.appendTo(nil)); again != w {
			t.Errorf("%+v became %+v", w, again)
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
func (canned) SetDeadline(time.Time) error  { return nil }

// FuzzTake reads anything as the state of another rank: never more than was sent, and
// nothing whose checksum is wrong.
func FuzzTake(f *testing.F) {
	part := func(kind byte, b []byte) []byte {
		fr := frame{kind: kind, flags: flagSum, length: uint32(len(b)), sum: checksum(b)}
		return append(fr.append(nil), b...)
	}
	f.Add(append(part(frameData, []byte("state")), part(frameEnd, nil)...))
	f.Add(part(frameNo, []byte("not yet")))
	f.Add(part(frameElse, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := &takeReader{c: canned{Reader: bytes.NewReader(b)}, patience: time.Second, progress: newTransfer()}
		n, err := io.Copy(io.Discard, r)
		if n > int64(len(b)) {
			t.Errorf("%d bytes became %d", len(b), n)
		}
		if err == nil && r.err != io.EOF {
			t.Errorf("an end that is none: %v", r.err)
		}
	})
}
