// SPDX-License-Identifier: Apache-2.0

package spantree

import (
	"github.com/google/go-cmp/cmp"
	"testing"
)

// FuzzJournal reads a file of anything: never a panic, and what is read is
// read again after it was written.
func FuzzJournal(f *testing.F) {
	f.Add(journalOf(f, &termRecord{Term: 1, At: born}, sampleRun("a"), &deliveredRecord{RunKey: "b"}))
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

// journalOf is a journal with these records.
func journalOf(t testing.TB, records ...record) []byte {
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

func sampleRun(key string) *finishedRecord {
	return &finishedRecord{
		Job: Job{7, key}, Generation: 1, Total: 2, Options: sum("o"), Model: sum("m"), At: born.Local(),
		Files: []deliveredFile{{Rank: 0, SHA256: sum("m"), File: "model"}},
	}
}
