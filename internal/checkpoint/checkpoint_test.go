// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

func store(t *testing.T) (*Store, *bytes.Buffer) {
	log := &bytes.Buffer{}
	return &Store{
		FS: hdfsio.Local{Perm: 0o600}, Path: filepath.Join(t.TempDir(), "model[1].ckpt"), Log: slog.New(slog.NewTextHandler(log, nil)),
		owner: allreduce.Owner{Options: [32]byte{1}, Run: "job_7"},
	}, log
}

func point(n uint32, step uint64) client.Point {
	return client.Point{Epoch: protocol.Epoch{Term: 1, N: n, Incarnation: 9}, Step: step}
}

func allowed() error { return nil }

func save(t *testing.T, s *Store, at client.Point, state string) {
	t.Helper()
	err := s.Save(t.Context(), at, func(w io.Writer) error {
		_, err := io.WriteString(w, state)
		return err
	}, allowed)
	if err != nil {
		t.Fatal(err)
	}
}

// newest returns the state in the newest checkpoint.
func newest(t *testing.T, s *Store) string {
	t.Helper()
	step, err := s.Newest()
	if err != nil {
		t.Fatal(err)
	}
	if step == 0 {
		return "none"
	}
	var state string
	err = s.Load(step, func(r io.Reader) error {
		b, err := io.ReadAll(r)
		state = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func names(t *testing.T, s *Store) (names []string) {
	t.Helper()
	all, err := os.ReadDir(filepath.Dir(s.Path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		name, ok := strings.CutPrefix(e.Name(), "model[1].ckpt.r")
		if !ok || len(name) < 9 {
			t.Fatalf("%q is no name of a checkpoint", e.Name())
		}
		names = append(names, name[9:]) // the run is in 8 digits
	}
	return names
}

func TestTheNewestCounts(t *testing.T) {
	s, _ := store(t)
	if got := newest(t, s); got != "none" {
		t.Errorf("an empty folder has %q", got)
	}
	big := strings.Repeat("0123456789", blockSize/4)
	save(t, s, point(1, 3), "three")
	save(t, s, point(1, 9), "nine")
	save(t, s, point(2, 9), big)
	if got := newest(t, s); got != big {
		t.Errorf("got %.20q…, want that of the newest epoch", got)
	}
	if got, want := strings.Join(names(t, s), " "), "g0.e1.1.s9 g0.e1.2.s9"; got != want {
		t.Errorf("kept are %s, want %s", got, want)
	}
	save(t, s, point(3, 4), "four") // the job went back to an earlier step
	if got := newest(t, s); got != big {
		t.Errorf("got %.20q…, want that of the most steps", got)
	}
	if got, want := strings.Join(names(t, s), " "), "g0.e1.1.s9 g0.e1.2.s9 g0.e1.3.s4"; got != want {
		t.Errorf("kept are %s, want %s", got, want)
	}
}

// A server without a journal begins again at epoch 1.1. A checkpoint of that epoch is newer than those of fewer steps
// that the job has written in later epochs of the lost server.
func TestTheEpochsOfANewServerBeginAgain(t *testing.T) {
	lost, _ := store(t)
	save(t, lost, point(3, 5), "five")
	save(t, lost, point(3, 6), "six")
	s := &Store{FS: lost.FS, Path: lost.Path, Log: lost.Log}
	s.Own(lost.owner)
	if got := newest(t, s); got != "six" {
		t.Fatalf("got %q, want the newest of the lost server", got)
	}
	for _, state := range []struct {
		step uint64
		text string
		want string
	}{{7, "seven", "g0.e1.1.s7 g0.e1.3.s6"}, {8, "eight", "g0.e1.1.s7 g0.e1.1.s8"}} {
		save(t, s, point(1, state.step), state.text)
		if got := strings.Join(names(t, s), " "); got != state.want {
			t.Errorf("kept are %s, want %s", got, state.want)
		}
		again := &Store{FS: s.FS, Path: s.Path, Log: s.Log}
		again.Own(s.owner)
		if got := newest(t, again); got != state.text {
			t.Errorf("after the next loss got %q, want %q", got, state.text)
		}
	}
}

// Only checkpoints of the same options and run count, and with Resume those of other runs too.
// Checkpoints of other jobs are never removed.
func TestCheckpointsOfOtherJobsAreIgnored(t *testing.T) {
	s, log := store(t)
	other, run, before := *s, *s, *s
	other.Own(allreduce.Owner{Options: [32]byte{2}, Run: "job_7", Generation: 1})
	run.Own(allreduce.Owner{Options: [32]byte{1}, Run: "job_6", Generation: 1})
	before.Own(allreduce.Owner{Options: [32]byte{1}, Run: "job_5", Generation: 2})
	save(t, &before, point(3, 45), "the run before the last one")
	saved, err := os.ReadDir(filepath.Dir(s.Path))
	if err != nil || len(saved) != 1 {
		t.Fatalf("%d files, %v", len(saved), err)
	}
	hourAgo := time.Now().Add(-time.Hour) // file systems may have coarse timestamps
	if err := os.Chtimes(filepath.Join(filepath.Dir(s.Path), saved[0].Name()), hourAgo, hourAgo); err != nil {
		t.Fatal(err)
	}
	save(t, &other, point(1, 50), "other options")
	save(t, &run, point(1, 2), "an earlier run")
	resumed := *s
	resumed.Resume = true
	if got := newest(t, &resumed); got != "an earlier run" {
		t.Errorf("with Resume got %q", got)
	}
	for step := uint64(1); step < 4; step++ {
		save(t, s, point(1, step), "mine")
	}
	if got := newest(t, s); got != "mine" {
		t.Errorf("got %q", got)
	}
	if got := newest(t, &resumed); got != "mine" {
		t.Errorf("with Resume and states of its own got %q", got)
	}
	if n := len(names(t, s)); n != 5 {
		t.Errorf("%d files, want 2 of this job and 3 of others: %v", n, names(t, s))
	}
	if err := resumed.Clear(); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(names(t, s), " "), "g1.e1.1.s50"; got != want {
		t.Errorf("after the end there are %s, want %s", got, want)
	}
	save(t, &run, point(1, 40), "an earlier run")
	if got := newest(t, s); got != "none" {
		t.Errorf("got %q", got)
	}
	for _, words := range []string{"it belongs to run", "checkpoint.Store.Resume", "to other options"} {
		if !strings.Contains(log.String(), words) {
			t.Errorf("the log does not say %q:\n%s", words, log)
		}
	}
}

// Resuming fails if all checkpoints belong to other jobs.
func TestNothingToResume(t *testing.T) {
	s, _ := store(t)
	s.Resume = true
	if got := newest(t, s); got != "none" {
		t.Errorf("an empty folder has %q", got)
	}
	other := *s
	other.Own(allreduce.Owner{Options: [32]byte{2}, Text: "bits=18 l2=1", Run: "job_6"})
	s.Own(allreduce.Owner{Options: [32]byte{1}, Text: "bits=18 l2=2", Run: "job_7"})
	save(t, &other, point(1, 3), "other options")
	_, err := s.Newest()
	strange, ok := errors.AsType[*CheckpointMismatchError](err)
	if !ok || !strings.Contains(strange.Error(), "l2=2 here, l2=1 there") || !strings.HasPrefix(strange.File, s.Path) {
		t.Errorf("got %v, want what differs, and in which file", err)
	}
	s.Resume = false
	if got := newest(t, s); got != "none" {
		t.Errorf("not asked to resume: got %q", got)
	}
	s.Resume = true
	save(t, s, point(1, 1), "mine")
	if got := newest(t, s); got != "mine" {
		t.Errorf("with one of its own: got %q", got)
	}
}

// RemoveRun removes the checkpoints of a finished run by their names, damaged or not.
func TestRemoveRun(t *testing.T) {
	s, _ := store(t)
	other := *s
	other.owner.Run = "job_8"
	save(t, s, point(1, 3), "mine")
	save(t, &other, point(1, 5), "another run")
	if err := os.WriteFile(s.Path+runMark("job_7")+".g0.e1.1.s4", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	unfinished := filepath.Join(filepath.Dir(s.Path), ".model[1].ckpt"+runMark("job_7")+".g0.e1.1.s5.writing-77-00000001")
	for _, remove := range []func() error{s.Clear, func() error { return RemoveRun(t.Context(), s.FS, s.Path, "job_7") }} {
		if err := os.WriteFile(unfinished, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := remove(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(unfinished); err == nil {
			t.Error("the temporary file of a killed process still exists")
		}
	}
	if err := RemoveRun(t.Context(), s.FS, s.Path, "job_7"); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(names(t, s), " "), "g0.e1.1.s5"; got != want {
		t.Errorf("left are %s, want %s", got, want)
	}
}

// Only the owner may read the weights.
func TestFilesArePrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	s, _ := store(t)
	save(t, s, point(1, 1), "secret")
	info, err := os.Stat(filepath.Join(filepath.Dir(s.Path), "model[1].ckpt"+runMark("job_7")+".g0.e1.1.s1"))
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("mode %o, want 600", got)
	}
}

// An unwritable path is detected before the first checkpoint is due.
func TestImpossiblePaths(t *testing.T) {
	s, _ := store(t)
	dir := filepath.Dir(s.Path)
	for path, want := range map[string]string{
		dir + "/":                        "is a directory",
		dir + "/..":                      "is a directory",
		filepath.Join(dir, "none", "ck"): "directory does not exist",
	} {
		s.Path = path
		if _, err := s.Newest(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
}

// A checkpoint that is truncated, or has any byte changed, does not count; the one before it
// does.
func TestDamage(t *testing.T) {
	s, _ := store(t)
	save(t, s, point(1, 1), "before")
	save(t, s, point(1, 2), "a state of some length")
	name := s.Path + runMark("job_7") + ".g0.e1.1.s2"
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	try := func(b []byte) {
		t.Helper()
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := newest(t, s); got != "before" {
			t.Errorf("%d bytes of %d, damaged: got %q", len(b), len(whole), got)
		}
	}
	for i := range whole {
		try(whole[:i])
		b := bytes.Clone(whole)
		b[i] ^= 0x10
		try(b)
	}
	try(append(bytes.Clone(whole), 0))
}

func TestFailedSaveLeavesNoFile(t *testing.T) {
	s, _ := store(t)
	save(t, s, point(1, 1), "before")
	full := errors.New("disk full")
	err := s.Save(t.Context(), point(1, 2), func(w io.Writer) error {
		_, _ = io.WriteString(w, "half")
		return full
	}, allowed)
	if !errors.Is(err, full) || !strings.Contains(err.Error(), "s2") {
		t.Errorf("got %v", err)
	}
	if got := strings.Join(names(t, s), " "); got != "g0.e1.1.s1" {
		t.Errorf("left are %s", got)
	}
}

// The end of the job ends Save between two calls of the file system, and a commit that is retried. It leaves no file.
func TestSaveEndsWithTheJob(t *testing.T) {
	finished := errors.New("the job has finished")
	for what, end := range map[string]func(s *Store, cancel func()) func(io.Writer) error{
		"during the write of the state": func(_ *Store, cancel func()) func(io.Writer) error {
			return func(w io.Writer) error {
				cancel()
				_, err := w.Write(make([]byte, 2*blockSize))
				return err
			}
		},
		"before the commit": func(_ *Store, cancel func()) func(io.Writer) error {
			return func(io.Writer) error {
				cancel()
				return nil
			}
		},
		"during the commit": func(s *Store, cancel func()) func(io.Writer) error {
			s.FS = retrying{s.FS, cancel}
			return func(io.Writer) error { return nil }
		},
	} {
		s, _ := store(t)
		save(t, s, point(1, 1), "before")
		ctx, cancel := context.WithCancelCause(t.Context())
		err := s.Save(ctx, point(1, 2), end(s, func() { cancel(finished) }), allowed)
		if !errors.Is(err, finished) {
			t.Errorf("%s: got %v, want %v", what, err, finished)
		}
		if got := strings.Join(names(t, s), " "); got != "g0.e1.1.s1" {
			t.Errorf("%s: left are %s", what, got)
		}
	}
}

// retrying is a file system whose commits fail when the context of Create has ended, as those of package remote.
type retrying struct {
	hdfsio.FS
	committing func()
}

func (r retrying) Create(ctx context.Context, name string) (hdfsio.File, error) {
	f, err := r.FS.Create(ctx, name)
	return retryingFile{f, ctx, r.committing}, err
}

type retryingFile struct {
	hdfsio.File
	ctx        context.Context
	committing func()
}

func (f retryingFile) Commit() error {
	f.committing()
	select {
	case <-f.ctx.Done():
		return context.Cause(f.ctx)
	case <-time.After(time.Minute):
		return f.File.Commit()
	}
}

// Without the lease, Save does not remove other checkpoints.
func TestWithoutALeaseNothingIsRemoved(t *testing.T) {
	s, _ := store(t)
	for step := uint64(1); step < 5; step++ {
		if err := s.Save(t.Context(), point(1, step), func(io.Writer) error { return nil }, func() error { return errors.New("no lease") }); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(names(t, s)); n != 4 {
		t.Errorf("%d are left, want all 4", n)
	}
}

func FuzzReader(f *testing.F) {
	var b bytes.Buffer
	w, err := newWriter(&b, header{run: "r"})
	if err != nil {
		f.Fatal(err)
	}
	_, _ = w.WriteString("state")
	if err := w.close(); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add(b.Bytes()[:90])
	f.Fuzz(func(t *testing.T, b []byte) {
		r, _, err := newReader(bytes.NewReader(b))
		if err != nil {
			return
		}
		n, _ := io.Copy(io.Discard, r)
		if n > int64(len(b)) {
			t.Errorf("%d bytes out of %d", n, len(b))
		}
	})
}
