// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"testing"

	"github.com/gvw-project/gvw/internal/link"
)

// freshEdge returns an edge of an engine that has had no collective yet.
func freshEdge() *Edge {
	en := &Engine{}
	en.Init()
	return en.edge(1)
}

// TestCallWithoutNumber: a peer that sends the header of a collective with number 0 before this rank's
// first collective breaks the protocol.
func TestCallWithoutNumber(t *testing.T) {
	c := testCall()
	c.Seq = 0
	_, err := freshEdge().Call(c.appendTo(nil))
	if _, corrupt := errors.AsType[*link.CorruptError](err); !corrupt || err.Error() != "the header of a collective has the number 0, want 1 or more" {
		t.Errorf("got %v", err)
	}
	c.Seq = 1
	if v, err := freshEdge().Call(c.appendTo(nil)); v != link.Wait || err != nil {
		t.Errorf("the first collective: got %v, %v, want link.Wait", v, err)
	}
}

// FuzzCall reads anything as the header of a collective. A header that passes the check is decoded,
// printed and compared with that of an engine without a panic, and encoded to one that passes, too.
func FuzzCall(f *testing.F) {
	c := testCall()
	f.Add(c.appendTo(nil))
	f.Add((&CallID{}).appendTo(nil))
	f.Add(make([]byte, CallFixed))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, err := freshEdge().Call(b)
		if checkCall(b) != nil {
			if _, corrupt := errors.AsType[*link.CorruptError](err); !corrupt {
				t.Errorf("a header that fails the check: got %v, want a *link.CorruptError", err)
			}
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
