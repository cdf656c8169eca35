// SPDX-License-Identifier: Apache-2.0

package history

import (
	"testing"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// A cause goes to the newest record of its job, and of no other one.
func TestExplain(t *testing.T) {
	var all Jobs
	for _, generation := range []uint32{1, 2, 2} {
		all.Add(protocol.EndedJob{UniqueID: 7, Generation: generation, Cause: "it broke"})
		all.Add(protocol.EndedJob{UniqueID: 8, Generation: generation})
	}
	before := all[4]
	all.Explain(protocol.Job{UniqueID: 7}, 2, &protocol.FoundCause{Rank: 3})
	all.Explain(protocol.Job{UniqueID: 9}, 2, &protocol.FoundCause{Rank: 4})
	for i, e := range all {
		if (e.Found != nil) != (i == 4) {
			t.Errorf("record %d: got %+v", i, e.Found)
		}
	}
	if !all[4].Same(before) || all[4].Same(all[5]) {
		t.Error("a cause makes another record of it")
	}
}
