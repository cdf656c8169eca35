// SPDX-License-Identifier: Apache-2.0

package history

import (
	"strings"
	"testing"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// birth is the time at which the tests begin.
var birth = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// The memory of finished runs is limited: the oldest are forgotten.
func TestFinishedRunsAreBounded(t *testing.T) {
	run := func(i int) *protocol.FinishedRecord {
		r := &protocol.FinishedRecord{Job: protocol.Job{UniqueID: uint64(i), RunKey: strings.Repeat("k", i%50)}, At: birth}
		for f := range i % 5 {
			r.Files = append(r.Files, protocol.DeliveredFile{Rank: f, File: strings.Repeat("f", 700)})
		}
		return r
	}
	f := NewRuns(1000, 50_000, time.Hour)
	for i := range 300 {
		f.Add(run(i))
		var held int64
		for _, r := range f.queue {
			held += r.MemoryUse()
		}
		if held != f.bytes || held > f.room {
			t.Fatalf("%d runs are kept, of %d bytes, %d are counted", len(f.queue), held, f.bytes)
		}
	}
	if n := len(f.queue); n < 15 || f.queue[n-1].Job.UniqueID != 299 {
		t.Errorf("%d runs are kept", n)
	}
	f.Expire(birth.Add(2 * time.Hour))
	if f.bytes != 0 {
		t.Errorf("%d bytes are counted for no runs", f.bytes)
	}
}
