// SPDX-License-Identifier: Apache-2.0

package carrier

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/malt/internal/mailbox"
)

func TestMessagesComeBack(t *testing.T) {
	h := updateHead{Head: Head{Round: 1, Iteration: 2, Sent: -3, Scale: 0.5}, object: 4, size: 5, sum: 6}
	b := h.append(nil)
	if len(b) != updateSize || len(b) > link.MaxCall {
		t.Errorf("the head of an update has %d bytes, want %d and at most %d", len(b), updateSize, link.MaxCall)
	}
	got, err := decodeUpdate(b)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(h, got, cmp.AllowUnexported(updateHead{})); d != "" {
		t.Errorf("update (-want +got):\n%s", d)
	}
	text := bytes.Repeat([]byte("x"), MaxDescription)
	b = appendDescribe(nil, 7, text)
	if len(b) > link.MaxCall {
		t.Errorf("a description has %d bytes, a call at most %d", len(b), link.MaxCall)
	}
	if id, back, err := decodeDescribe(b); err != nil || id != 7 || !bytes.Equal(back, text) {
		t.Errorf("description: got object %d, %q, %v", id, back, err)
	}
	hello := bytes.Repeat([]byte("h"), MaxHello)
	b = appendHello(nil, hello)
	if back, err := decodeHello(b); err != nil || !bytes.Equal(back, hello) || len(b) > link.MaxCall {
		t.Errorf("hello of %d bytes: got %q, %v", len(b), back, err)
	}
	of := offer{object: 7, key: 8, layout: mailbox.Layout{Depth: 9, Payload: 10}, location: bytes.Repeat([]byte("l"), MaxOffer)}
	b = of.append(nil)
	if back, err := decodeOffer(b); err != nil || !reflect.DeepEqual(back, of) || len(b) > link.MaxCall {
		t.Errorf("offer of %d bytes: got %+v, %v", len(b), back, err)
	}
	n := note{kind: noteDown, object: 8, number: 9}
	b = n.append(nil)
	if back, err := decodeNote(b); err != nil || back != n || len(b) != link.MaxProgress {
		t.Errorf("note: got %+v of %d bytes, %v", back, len(b), err)
	}
}

// FuzzMessages decodes any bytes, and encodes what was decoded to the same bytes.
func FuzzMessages(f *testing.F) {
	f.Add(updateHead{Head: Head{Round: 1, Scale: 1}, object: 2, size: 3}.append(nil))
	f.Add(appendDescribe(nil, 1, []byte("name=v")))
	f.Add(note{kind: noteAck, object: 1, number: 2}.append(nil))
	f.Add(appendHello(nil, []byte("machine")))
	f.Add(offer{object: 1, layout: mailbox.Layout{Depth: 4, Payload: 100}, location: []byte("x")}.append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if h, err := decodeUpdate(b); err == nil && !bytes.Equal(h.append(nil), b) {
			t.Errorf("update % x became % x", b, h.append(nil))
		}
		if id, text, err := decodeDescribe(b); err == nil && !bytes.Equal(appendDescribe(nil, id, text), b) {
			t.Errorf("description % x changed", b)
		}
		if hello, err := decodeHello(b); err == nil && !bytes.Equal(appendHello(nil, hello), b) {
			t.Errorf("hello % x changed", b)
		}
		if of, err := decodeOffer(b); err == nil && !bytes.Equal(of.append(nil), b) {
			t.Errorf("offer % x became % x", b, of.append(nil))
		}
		if n, err := decodeNote(b); err == nil && !bytes.Equal(n.append(nil), b) {
			t.Errorf("note % x became % x", b, n.append(nil))
		}
	})
}
