// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"
)

// FuzzCall reads anything as the header of a collective: what passes the check is decoded,
// printed and compared without a panic, and encoded to something that passes, too.
func FuzzCall(f *testing.F) {
	c := testCall()
	f.Add(c.appendTo(nil))
	f.Add((&CallID{}).appendTo(nil))
	f.Add(make([]byte, CallFixed))
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
