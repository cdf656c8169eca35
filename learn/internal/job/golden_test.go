// SPDX-License-Identifier: Apache-2.0

package job

import (
	"encoding/hex"
	"testing"
)

// The bytes of a record are those of earlier releases.
func TestRecordBytes(t *testing.T) {
	r := Record{Nsx: -1.5, TotalWeight: 2}
	for i, f := range r.fields() {
		*f += float64(i)
	}
	for i, f := range r.floats() {
		*f = float32(i) + 0.5
	}
	r.Stats.Examples, r.Stats.Features, r.Stats.Seen.More = 3, 4, true
	for name, c := range map[string]struct {
		bytes []byte
		want  string
	}{
		"record": {r.appendTo(nil), "01000000010000000000000000000000000000000000f03f000000000000004000000000000008400000000000001040000000000000144000000000000018400000000000001c4000000000000020400000000000001e4000000000000028400000003f0000c03f000020400000604003000000000000000400000000000000"},
	} {
		if got := hex.EncodeToString(c.bytes); got != c.want {
			t.Errorf("%s: got and want\n%s\n%s", name, got, c.want)
		}
	}
}
