// SPDX-License-Identifier: Apache-2.0

package server

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// FuzzJournal reads arbitrary files. Reading never panics. Records that are
// read and then written are read as the same records again.
func FuzzJournal(f *testing.F) {
	f.Add(journalOf(f, &protocol.TermRecord{Term: 1, At: born}, sampleRun("a"), &protocol.DeliveredRecord{RunKey: "b"}))
	f.Add([]byte(journalMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		records, err := readJournal("fuzz", b)
		if err != nil {
			return
		}
		again, err := readJournal("fuzz", journalOf(t, records...))
		if d := cmp.Diff(records, again); err != nil || d != "" {
			t.Fatalf("%v, -first +second:\n%s", err, d)
		}
	})
}

// journalOf returns a journal with these records.
func journalOf(t testing.TB, records ...protocol.Record) []byte {
	t.Helper()
	b := []byte(journalMagic)
	for _, r := range records {
		var err error
		if b, err = appendEntry(b, r); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func sampleRun(key string) *protocol.FinishedRecord {
	return &protocol.FinishedRecord{
		Job: protocol.Job{UniqueID: 7, RunKey: key}, Generation: 1, Total: 2, Options: sum("o"), Model: sum("m"), At: born.Local(),
		Files: []protocol.DeliveredFile{{Rank: 0, SHA256: sum("m"), File: "model"}},
	}
}
