// SPDX-License-Identifier: Apache-2.0

package rundir

import (
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/hdfsio"
)

func at(base, run string) *Dir {
	return &Dir{FS: hdfsio.Local{}, Base: base, Run: run}
}

func put(t *testing.T, d *Dir, what, text string) [32]byte {
	t.Helper()
	sum := sha256.Sum256([]byte(text))
	err := d.Put(what, sum, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func read(t *testing.T, d *Dir, what string, sum [32]byte) string {
	t.Helper()
	text, err := d.read(what, sum)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestFindReturnsThePutFile(t *testing.T) {
	base := filepath.Join(t.TempDir(), "a[b]", "_gvw")
	first, late := at(base, "job_7"), at(base, "job_7")
	if err := first.Begin("bits=18"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(base); err == nil {
		t.Error("there is a folder before anything is delivered")
	}
	model := put(t, first, "model", "a model")
	put(t, first, "predictions-1", "those of rank 1")
	put(t, first, "predictions-11", "those of rank 11")
	if err := late.Begin("bits=18"); err != nil {
		t.Error(err)
	}
	found, err := late.Find("model")
	if err != nil || found != model {
		t.Errorf("found %x, %v; want %x", found, err, model)
	}
	if got := read(t, late, "model", model); got != "a model" {
		t.Errorf("got %q", got)
	}
	if found, err = late.Find("predictions-1"); err != nil || read(t, late, "predictions-1", found) != "those of rank 1" {
		t.Errorf("rank 1 finds %x, %v", found, err)
	}
	if got := read(t, late, optionsFile, sha256.Sum256([]byte("bits=18"))); got != "bits=18" {
		t.Errorf("the options are %q", got)
	}
}

// An existing file is complete and is not written again; a new file must have the announced
// digest.
func TestPutTwice(t *testing.T) {
	d := at(t.TempDir(), "r")
	sum := put(t, d, "model", "a model")
	if err := d.Put("model", sum, func(io.Writer) error { return errors.New("called") }); err != nil {
		t.Error(err)
	}
	other := sha256.Sum256([]byte("another"))
	err := d.Put("model", other, func(w io.Writer) error {
		_, err := io.WriteString(w, "a model")
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "SHA-256") {
		t.Errorf("other bytes than those of the digest: %v", err)
	}
	entries, err := os.ReadDir(d.Path())
	if err != nil || len(entries) != 2 {
		t.Errorf("%d files, want the options and the model: %v, %v", len(entries), entries, err)
	}
}

func TestTake(t *testing.T) {
	dir := t.TempDir()
	d := at(filepath.Join(dir, "_gvw"), "r")
	name := filepath.Join(dir, "p")
	if err := os.WriteFile(name, []byte("1\n2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("1\n2\n"))
	if err := d.Take("predictions-0", sum, name); err != nil {
		t.Fatal(err)
	}
	if got := read(t, d, "predictions-0", sum); got != "1\n2\n" {
		t.Errorf("got %q", got)
	}
	if err := d.Take("predictions-1", sum, os.DevNull); err != nil {
		t.Error(err)
	}
	if _, err := d.Find("predictions-1"); err == nil {
		t.Error("a file that is not regular was stored")
	}
	if err := os.WriteFile(name, []byte("3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := d.Take("predictions-2", sum, name); err == nil {
		t.Error("a file that has changed was kept")
	}
}

// Errors name the file that is missing, damaged or of another run.
func TestErrorsNameWhatIsWrong(t *testing.T) {
	d := at(t.TempDir(), "job_7")
	if err := d.Begin("bits=18 l2=1"); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("a model"))
	says := func(name string, err error, words ...string) {
		t.Helper()
		for _, w := range words {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v; want %q", name, err, w)
			}
		}
	}
	_, err := d.Open("model", sum)
	says("nothing there", err, "model", "job_7", d.Path(), "another run ID")
	if _, ok := errors.AsType[*MissingError](err); !ok {
		t.Errorf("nothing there: %T", err)
	}
	_, err = d.Find("model")
	says("none", err, d.Path(), "model-SHA256")
	put(t, d, "model", "a model")
	put(t, d, "model", "another model")
	_, err = d.Find("model")
	says("two", err, "2 different ones")
	if err := os.WriteFile(d.path("model", sum), []byte("b model"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = d.read("model", sum)
	says("damaged", err, d.path("model", sum), "damaged")
	if _, ok := errors.AsType[*hdfsio.DataError](err); !ok {
		t.Errorf("damaged: %T", err)
	}
	err = at(d.Base, "job_7").Begin("bits=18 l2=2")
	says("other options", err, "job_7", "l2=2 here, l2=1 there", d.Path())
	if _, ok := errors.AsType[*RunIDConflictError](err); !ok {
		t.Errorf("other options: %T", err)
	}
	if err := at(d.Base, "job_8").Begin("bits=18 l2=2"); err != nil {
		t.Errorf("another run: %v", err)
	}
}

func TestProbe(t *testing.T) {
	dir := t.TempDir()
	d := at(filepath.Join(dir, "x", "y"), "r")
	if err := d.Probe(); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(d.Base); err != nil || len(entries) > 0 {
		t.Errorf("left are %v, %v", entries, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := at(filepath.Join(dir, "file"), "r").Probe(); err == nil {
		t.Error("a file was taken for a folder")
	}
}

// Every key has its own directory name, with characters that all file systems accept.
func TestKeysAreNames(t *testing.T) {
	for key, want := range map[string]string{
		"job_17-x.2":  "job_17-x.2",
		"..":          "%2E.",
		"a/../b":      "a%2F..%2Fb",
		"1:2 %":       "1%3A2%20%25",
		"\xc3\xa4\\*": "%C3%A4%5C%2A",
	} {
		if got := escape(key); got != want {
			t.Errorf("%q: %q, want %q", key, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfNDistinct(rapid.StringN(1, 255, 255), 2, 2, rapid.ID).Draw(t, "keys")
		a, b := escape(keys[0]), escape(keys[1])
		if a == b {
			t.Fatalf("%q and %q are both %q", keys[0], keys[1], a)
		}
		if len(a) > maxKey || strings.ContainsAny(a, "/\\:*?\x00") || a == "." || a == ".." {
			t.Fatalf("%q is %q", keys[0], a)
		}
	})
}
