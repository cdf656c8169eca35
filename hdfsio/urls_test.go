// SPDX-License-Identifier: Apache-2.0

package hdfsio

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestSplitURL(t *testing.T) {
	for name, want := range map[string][3]string{
		"hdfs://nn:8020/a b?#%20": {"hdfs", "nn:8020", "/a b?#%20"},
		"hdfs:///a":               {"hdfs", "", "/a"},
		"HDFS://nn":               {"hdfs", "nn", "/"},
		"s3a+x://b/c":             {"s3a+x", "b", "/c"},
		"file:///tmp/x":           {"file", "", "/tmp/x"},
	} {
		scheme, authority, path, ok := SplitURL(name)
		if got := [3]string{scheme, authority, path}; !ok || got != want {
			t.Errorf("%s: %q, %v, want %q", name, got, ok, want)
		}
	}
	for _, name := range []string{"", "/a://b", "a:/b", "://x", "3d://x", "data/x", `C:\x`} {
		if _, _, _, ok := SplitURL(name); ok {
			t.Errorf("%q is taken for a URL", name)
		}
	}
}

// far is this machine's disk with the capabilities of a remote one.
type far struct{ Local }

func (far) Close() error { return errClosed }

var errClosed = errors.New("closed")

func (far) Caps(string) (Caps, error) { return Caps{Seek: true}, nil }

func TestURLs(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "file")
	writeFile(t, name, []byte("text"))
	dials := 0
	u := &URLs{Dial: func(scheme, authority string) (FS, error) {
		if dials++; scheme != "x" {
			return nil, errors.New("no such scheme")
		}
		return far{}, nil
	}}
	if runtime.GOOS != "windows" {
		if r, err := u.Open(t.Context(), "file://"+name, 1); err != nil {
			t.Error(err)
		} else if b, err := io.ReadAll(r); err != nil || string(b) != "ext" || r.Close() != nil {
			t.Errorf("%q, %v", b, err)
		}
	}
	if _, err := u.Stat(t.Context(), "file://host"+name); err == nil || !strings.Contains(err.Error(), "three slashes") {
		t.Errorf("a file of another host: %v", err)
	}
	if dials != 0 {
		t.Error("a local name was dialed")
	}
	for range 2 {
		if _, err := u.Stat(t.Context(), "x://h/none"); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%v", err)
		}
	}
	if err := u.Close(); !errors.Is(err, errClosed) || u.Close() != nil {
		t.Errorf("Close: %v, want that of the file system, once", err)
	}
	if dials != 1 {
		t.Errorf("one authority was dialed %d times", dials)
	}
	for _, call := range []func(string) error{
		func(n string) error { return u.Remove(t.Context(), n) },
		func(n string) error { return u.Mkdir(t.Context(), n) },
		func(n string) error { _, err := u.List(t.Context(), n); return err },
		func(n string) error { _, err := u.Create(t.Context(), n); return err },
		func(n string) error { _, err := u.Open(t.Context(), n, 0); return err },
		func(n string) error { _, err := u.Caps(n); return err },
		func(n string) error { _, err := u.Blocks(t.Context(), n); return err },
		func(n string) error { return u.RemoveTemp(n, 1) },
		func(n string) error { return u.RemoveTemps(n, 1) },
	} {
		if err := call("y://h/x"); err == nil || !strings.Contains(err.Error(), "y://h/x") || !strings.Contains(err.Error(), "no such scheme") {
			t.Errorf("%v", err)
		}
	}
	if _, err := u.Blocks(t.Context(), name); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("blocks of a local file: %v", err)
	}
	if _, err := (&URLs{}).Stat(t.Context(), "x://h/file"); err == nil || !strings.Contains(err.Error(), "give a local file") {
		t.Errorf("without other file systems: %v", err)
	}
	if !Remote("hdfs://x/y") || Remote("file:///y") || Remote("y") {
		t.Error("Remote takes one for the other")
	}
}

// Remote files are split without reading them: text by bytes. A compressed file goes to the
// rank whose part contains its middle, so that each of as many ranks as files gets one.
func TestFarFilesAreCutByTheirNames(t *testing.T) {
	dir := t.TempDir()
	var names []string
	for i, n := range []int{900, 1000, 1100, 1050} {
		name := filepath.Join(dir, string(rune('a'+i))+".gz")
		writeFile(t, name, compress(t, name, strings.Repeat("x", n)+string(rune('a'+i))+"\n"))
		names = append(names, name)
	}
	for rank := range names {
		parts, err := Split(t.Context(), far{}, names, Shard{Kind: Bytes, Rank: rank, Total: len(names)})
		if err != nil {
			t.Fatal(err)
		}
		if len(parts) != 1 || parts[0].Name != names[rank] {
			t.Errorf("rank %d has %d parts, the first %s", rank, len(parts), parts[0].Name)
		}
	}
	// With more ranks than files some have no file, and no file is divided.
	seen := 0
	for rank := range 9 {
		parts, err := Split(t.Context(), far{}, names, Shard{Kind: Bytes, Rank: rank, Total: 9})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range parts {
			r, err := p.Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(r)
			if err := errors.Join(err, r.Close()); err != nil {
				t.Fatal(err)
			}
			if len(b) > 0 {
				seen++
			}
		}
	}
	if seen != len(names) {
		t.Errorf("%d files were read, want %d", seen, len(names))
	}
	// A compressed file without an extension cannot have been split correctly.
	hidden := filepath.Join(dir, "hidden")
	writeFile(t, hidden, compress(t, "x.gz", strings.Repeat(text, 100)))
	parts, err := Split(t.Context(), far{}, []string{hidden}, Shard{Kind: Bytes, Rank: 1, Total: 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parts[0].Open(t.Context()); err == nil || !strings.Contains(err.Error(), "rename it") {
		t.Errorf("%v", err)
	}
}
