// SPDX-License-Identifier: Apache-2.0

package server

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// open opens a journal for one server start.
func open(t *testing.T, path string, limit int, now time.Time) (*journal, uint32, []*protocol.FinishedRecord) {
	t.Helper()
	j, term, runs, err := openJournal(path, limit, time.Hour, now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.close() })
	return j, term, runs
}

func keys(runs []*protocol.FinishedRecord) (all []string) {
	for _, r := range runs {
		all = append(all, r.Job.RunKey)
	}
	return all
}

func TestJournalKeepsWhatLaterStartsNeed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	j, term, runs := open(t, path, 2, born)
	if term != 1 || runs != nil {
		t.Errorf("a new journal: term %d, runs %v", term, runs)
	}
	for i, key := range []string{"a", "b", "c"} {
		r := sampleRun(key)
		r.At = born.Add(time.Duration(i) * time.Minute)
		if err := errors.Join(j.append(&protocol.DeliveredRecord{RunKey: key}), j.append(r), j.sync()); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	// The newest two, and none older than an hour.
	j, term, runs = open(t, path, 2, born.Add(10*time.Minute))
	if d := cmp.Diff([]string{"b", "c"}, keys(runs)); term != 2 || d != "" {
		t.Errorf("term %d, -want +got:\n%s", term, d)
	}
	j.close()
	after, err := os.Stat(path)
	if err != nil || after.Size() >= before.Size() {
		t.Errorf("%d bytes became %d, %v: records that no later start needs remain", before.Size(), after.Size(), err)
	}
	j, term, runs = open(t, path, 2, born.Add(62*time.Minute-time.Second))
	if d := cmp.Diff([]string{"c"}, keys(runs)); term != 3 || d != "" {
		t.Errorf("term %d, -want +got:\n%s", term, d)
	}
	j.close()
}

func TestJournalIsLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	j, _, _ := open(t, path, 2, born)
	_, _, _, err := openJournal(path, 2, time.Hour, born)
	if !errors.Is(err, ErrJournalLocked) || !strings.Contains(err.Error(), path) {
		t.Errorf("second open: %v", err)
	}
	j.close()
	open(t, path, 2, born)
}

// A crash can truncate the file anywhere, and some file systems then append
// zeros. At most the last record is lost.
func TestTruncatedJournal(t *testing.T) {
	records := []protocol.Record{&protocol.TermRecord{Term: 4, At: born.Local()}, sampleRun("a"), sampleRun("b")}
	var ends []int
	for n := range records {
		ends = append(ends, len(journalOf(t, records[:n+1]...)))
	}
	whole := journalOf(t, records...)
	for cut := range len(whole) + 1 {
		want := 0
		for want < len(ends) && ends[want] <= cut {
			want++
		}
		for name, data := range map[string][]byte{"cut": whole[:cut], "zeros after": append(slices.Clone(whole[:cut]), make([]byte, 500)...)} {
			if name != "cut" && cut < len(journalMagic) {
				continue // the magic is synced before any record is appended
			}
			got, err := readJournal("j", data)
			if err != nil || len(got) != want {
				t.Fatalf("%s %d of %d: %d records, %v; want %d", name, cut, len(whole), len(got), err, want)
			}
		}
	}
}

// Any damage except an incomplete last record prevents the start. The error names
// the remedy.
func TestDamagedJournal(t *testing.T) {
	records := []protocol.Record{&protocol.TermRecord{Term: 4, At: born}, sampleRun("a"), sampleRun("b")}
	whole := journalOf(t, records...)
	last := len(journalOf(t, records[:2]...))
	path := filepath.Join(t.TempDir(), "state")
	for at := range last {
		damaged := slices.Clone(whole)
		damaged[at] ^= 0x40
		got, err := readJournal(path, damaged)
		if err == nil {
			t.Fatalf("byte %d of %d is damaged, and %d records are read", at, len(whole), len(got))
		}
	}
	damaged := slices.Clone(whole)
	damaged[len(journalMagic)+journalHeader+2] ^= 1
	if err := os.WriteFile(path, damaged, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := NewServer(ServerConfig{StateFile: path})
	e := as[*JournalError](t, err)
	for _, words := range []string{path, "at byte 16", "fails its checksum", "Restore a copy, or move it away"} {
		if !strings.Contains(e.Error(), words) {
			t.Errorf("%q does not contain %q", e, words)
		}
	}
	if left, err := os.ReadFile(path); err != nil || cmp.Diff(damaged, left) != "" {
		t.Errorf("the damaged journal was touched, %v", err)
	}
	// A file that was never a journal.
	if err := os.WriteFile(path, []byte("my thesis"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := NewServer(ServerConfig{StateFile: path}); err == nil || !strings.Contains(err.Error(), "it has another beginning") {
		t.Errorf("a file that is no journal: %v", err)
	}
}

// If the record of a job cannot be written, its ranks do not get FINISHED.
func TestUnwritableJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	r, disk := serveOnDisk(t, ServerConfig{StateFile: path})
	m := r.member(r.config(protocol.Job{UniqueID: 1, RunKey: "run"}, 0, 1))
	if _, err := m.Ready(t.Context(), protocol.Shard{}); err != nil {
		t.Fatal(err)
	}
	readOnly, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	disk.set(func(f *testDisk) { f.write = readOnly.Write })
	if _, err := m.Complete(t.Context(), sum("m"), nil); err != nil {
		t.Fatal(err)
	}
	err = m.Finish(t.Context())
	if no := as[*protocol.RefusedError](t, err); no.Code != protocol.ServerFault || !strings.Contains(no.Reason, "cannot write its journal") {
		t.Errorf("Finish: %v", no)
	}
	disk.set(func(f *testDisk) { f.write = nil })
	readOnly.Close()
	if s := r.s.Status(); s.Finished != 0 {
		t.Errorf("%d runs are remembered", s.Finished)
	}
}

func TestJournalInAMissingDirectory(t *testing.T) {
	_, err := NewServer(ServerConfig{StateFile: filepath.Join(t.TempDir(), "no", "state")})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want ErrNotExist", err)
	}
}

// lostOffset is a journal's file whose offset cannot be read.
type lostOffset struct{ journalFile }

func (lostOffset) Seek(int64, int) (int64, error) { return 0, errors.New("no offset") }

// If the offset of the file is unknown, a record is not appended: a failed write could not be undone. All earlier records
// remain.
func TestJournalWithoutAnOffset(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	j, _, _ := open(t, path, 2, born)
	if err := errors.Join(j.append(sampleRun("a")), j.sync()); err != nil {
		t.Fatal(err)
	}
	file := j.file
	j.file = lostOffset{file}
	if err := j.append(sampleRun("b")); err == nil || !strings.Contains(err.Error(), "no offset") {
		t.Errorf("append: %v, want the error of the offset", err)
	}
	j.file = file
	if err := j.append(sampleRun("c")); err == nil {
		t.Error("append after the failure: no error, want a final one")
	}
	j.close()
	_, term, runs := open(t, path, 2, born)
	if d := cmp.Diff([]string{"a"}, keys(runs)); term != 2 || d != "" {
		t.Errorf("term %d, want 2; runs, -want +got:\n%s", term, d)
	}
}
