// SPDX-License-Identifier: Apache-2.0

package hdfsio

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/internal/tempname"
)

const text = "1 |a x y\n-1 |a z\n"

func readAll(t *testing.T, name string) string {
	t.Helper()
	r, err := Open(t.Context(), Local{}, name)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// text by bzip2 -9: the standard library only reads it.
const bzipped = "QlpoOTFBWSZTWWmFLRIAAARZgAAQQAIgACAAAHQgADEGTEDQD0nHEi1DTheLuSKcKEg0wpaJAA=="

func TestOpenDecompresses(t *testing.T) {
	dir := t.TempDir()
	bz, err := base64.StdEncoding.DecodeString(bzipped)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"plain":              []byte(text),
		"a.gz":               compress(t, "a.gz", text),
		"b.zst":              compress(t, "b.zst", text),
		"c.bz2":              bz,
		"no suffix, gzip":    compress(t, "a.gz", text),
		"no suffix, zstd":    compress(t, "a.zst", text),
		"wrong suffix.gz":    compress(t, "a.zst", text),
		"two zstd frames.gz": append(compress(t, "a.zst", text[:5]), compress(t, "a.zst", text[5:])...),
	} {
		name = filepath.Join(dir, name)
		writeFile(t, name, data)
		if got := readAll(t, name); got != text {
			t.Errorf("%s: %q, want %q", name, got, text)
		}
	}
	for _, short := range []string{"", "1", "BZh9 looks like bzip2 | but is text\n"} {
		name := filepath.Join(dir, "short")
		writeFile(t, name, []byte(short))
		if got := readAll(t, name); got != short {
			t.Errorf("%q came back as %q", short, got)
		}
	}
}

func TestDamagedDataIsNamed(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat(text, 1000)
	gz, zst := compress(t, "a.gz", long), compress(t, "a.zst", long)
	flipped := bytes.Clone(gz)
	flipped[len(gz)/3] ^= 0x40
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"cut.gz":      {gz[:len(gz)-9], "ends too early"},
		"cut.zst":     {zst[:len(zst)-2], "ends too early"},
		"flipped.gz":  {flipped, "damaged"},
		"header.gz":   {gz[:5], "ends too early"},
		"text.gz":     {[]byte(text), "not gzip data"},
		"text.zst":    {[]byte(text), "not zstd data"},
		"trailing.gz": {append(bytes.Clone(gz), text...), "damaged"},
	} {
		file := filepath.Join(dir, name)
		writeFile(t, file, c.data)
		r, err := Open(t.Context(), Local{}, file)
		if err == nil {
			_, err = io.ReadAll(r)
			_ = r.Close()
		}
		if _, ok := errors.AsType[*DataError](err); !ok {
			t.Errorf("%s: %T %v, want a DataError", name, err, err)
			continue
		}
		if !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %q does not name the file and %q", name, err, c.want)
		}
	}
}

func TestErrorsHaveARemedy(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "missing.vw")
	_, err := Open(t.Context(), Local{}, missing)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v is not ErrNotExist", err)
	}
	if got, want := err.Error(), "cannot open "+missing+": no such file or directory: check the name and the current directory"; got != want && runtime.GOOS != "windows" {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if _, err := Open(t.Context(), Local{}, dir); err == nil || !strings.Contains(err.Error(), "give a file") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := (Local{}).Create(t.Context(), filepath.Join(dir, "none", "m")); err == nil || !strings.Contains(err.Error(), "create it first") {
		t.Errorf("no folder: %v", err)
	}
	if _, err := (Local{}).Create(t.Context(), ""); err == nil {
		t.Error("an empty name: no error")
	}
	_, err = Split(t.Context(), Local{}, []string{missing, filepath.Join(dir, "other.vw")}, Shard{})
	if err == nil || !strings.Contains(err.Error(), "missing.vw") || !strings.Contains(err.Error(), "other.vw") {
		t.Errorf("two missing files: %v", err)
	}
	if _, err := Split(t.Context(), Local{}, []string{dir}, Shard{Kind: Bytes, Total: 2}); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a folder by bytes: %v", err)
	}
	if _, err := Split(t.Context(), Local{}, nil, Shard{}); err == nil {
		t.Error("no file: no error")
	}
}

func entries(t *testing.T, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// A file has its name only when it is complete; until then the old one stays.
func TestCreateCommit(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "model")
	writeFile(t, name, []byte("old"))
	f, err := Local{}.Create(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, "new"); err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, name); got != "old" {
		t.Errorf("before Commit: %q, want the old content", got)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Commit(), f.Abort()); err != nil {
		t.Errorf("calls after Commit: %v", err)
	}
	if got := readAll(t, name); got != "new" {
		t.Errorf("after Commit: %q, want the new content", got)
	}
	if diff := cmp.Diff([]string{"model"}, entries(t, dir)); diff != "" {
		t.Errorf("left behind (-want +got):\n%s", diff)
	}
}

func TestCreateAbort(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "model")
	f, err := Local{}.Create(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, "half"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Abort(), f.Abort(), f.Commit()); err != nil {
		t.Fatal(err)
	}
	if got := entries(t, dir); got != nil {
		t.Errorf("left behind: %v", got)
	}
}

// A failed write is never committed, even if the caller forgets about it.
func TestFailedWriteIsNotCommitted(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "model")
	f, err := Local{}.Create(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.(*localFile).f.Close(); err != nil { // the disk goes away
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, "x"); err == nil {
		t.Fatal("the write succeeded")
	}
	if err := f.Commit(); err == nil {
		t.Error("Commit after a failed write: no error")
	}
	if got := entries(t, dir); got != nil {
		t.Errorf("left behind: %v", got)
	}
}

func TestCreateThroughALink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	writeFile(t, target, []byte("old"))
	if err := os.Symlink("real", link); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	f, err := Local{}.Create(t.Context(), link)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, "new"); err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Lstat(link); err != nil || fi.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", fi, err)
	}
	if got := readAll(t, target); got != "new" {
		t.Errorf("the target holds %q", got)
	}
}

// elsewhere is what the name of a temporary file of process 7 of another machine has.
const elsewhere = ".writing-0000000f-7-00000001"

// Temporary files of a killed writer are distinguished from those of live writers, also of writers on other machines with
// the same process ID.
func TestRemoveTemp(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "model")
	of7, of77 := tempname.Infix(7)+"00000001", tempname.Infix(77)+"00000001"
	kept := []string{".model" + of77, ".model" + elsewhere, ".model.x" + of7, "model"}
	slices.Sort(kept)
	for _, n := range append([]string{".model" + of7}, kept...) {
		writeFile(t, filepath.Join(dir, n), nil)
	}
	if err := (Local{}).RemoveTemp(name, 7); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(kept, entries(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	f, err := Local{}.Create(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if err := (Local{}).RemoveTemp(name, os.Getpid()); err != nil {
		t.Fatal(err)
	}
	if got := entries(t, dir); len(got) != len(kept) {
		t.Errorf("our own file under way is still there: %v", got)
	}
	if err := f.(*localFile).f.Close(); err != nil {
		t.Fatal(err)
	}
}

// A writer of many files leaves one of them, and only the beginning of its name is known.
func TestRemoveTemps(t *testing.T) {
	dir := t.TempDir()
	of7, of77 := tempname.Infix(7)+"00000001", tempname.Infix(77)+"00000001"
	kept := []string{".c" + of7, ".ck.r1.s2" + of77, ".ck.r1.s2" + elsewhere, "ck.r1.s2"}
	slices.Sort(kept)
	for _, n := range append([]string{".ck.r1.s2" + of7}, kept...) {
		writeFile(t, filepath.Join(dir, n), nil)
	}
	if err := (Local{}).RemoveTemps(filepath.Join(dir, "ck"), 7); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(kept, entries(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	writeFile(t, filepath.Join(dir, ".ck.r1.s2.writing-7-00000001"), nil) // of release 0.2.0
	if err := (Local{}).RemoveTemps(filepath.Join(dir, "ck"), 0); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{".c" + of7, "ck.r1.s2"}, entries(t, dir)); diff != "" {
		t.Errorf("of all processes (-want +got):\n%s", diff)
	}
	if err := (Local{}).RemoveTemps(filepath.Join(dir, "none", "ck"), 7); err != nil {
		t.Errorf("where nothing can have been written: %v", err)
	}
}

// /dev/null must survive being the place of predictions.
func TestCreateOnADevice(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no /dev/null on windows")
	}
	f, err := Local{}.Create(t.Context(), os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, "x"); err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(os.DevNull); err != nil || fi.Mode()&fs.ModeDevice == 0 {
		t.Fatalf("/dev/null is no device any more: %v, %v", fi, err)
	}
}

func TestExpand(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []string{"b.vw", "a.vw", "c.txt", "[x].vw"} {
		writeFile(t, filepath.Join(dir, n), nil)
	}
	if err := (Local{}).Mkdir(t.Context(), filepath.Join(dir, "d.vw", "e")); err != nil {
		t.Fatal(err)
	}
	in := func(names ...string) []string {
		for i, n := range names {
			names[i] = filepath.Join(dir, n)
		}
		return names
	}
	got, err := Expand(t.Context(), Local{}, in("c.txt", "?.vw", "[x].vw"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(in("c.txt", "a.vw", "b.vw", "[x].vw"), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := Expand(t.Context(), Local{}, in("none*")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a pattern without matches: %v", err)
	}
	if err := (Local{}).Remove(t.Context(), filepath.Join(dir, "c.txt")); err != nil {
		t.Error(err)
	}
	if _, err := (Local{}).List(t.Context(), filepath.Join(dir, "[")); err == nil {
		t.Error("a malformed pattern: no error")
	}
}

// Only the owner can access files by default; with a given mode the umask does not matter.
func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	for perm, want := range map[fs.FileMode]fs.FileMode{0: 0o600, 0o666: 0o666, 0o640: 0o640} {
		dir := t.TempDir()
		f, err := Local{Perm: perm}.Create(t.Context(), filepath.Join(dir, "aside"))
		if err == nil {
			err = f.Commit()
		}
		if err != nil {
			t.Fatal(err)
		}
		now, err := Local{Perm: perm}.CreateNow(filepath.Join(dir, "now"))
		if err != nil {
			t.Fatal(err)
		}
		now.Close()
		for _, name := range []string{"aside", "now"} {
			if fi, err := os.Stat(filepath.Join(dir, name)); err != nil || fi.Mode().Perm() != want {
				t.Errorf("Perm %o: %s: %v, %v; want mode %o", perm, name, fi, err, want)
			}
		}
	}
}
