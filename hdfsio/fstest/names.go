// SPDX-License-Identifier: Apache-2.0

package fstest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gvw-project/gvw/hdfsio"
)

func race(t *testing.T, c Config) {
	if c.Races {
		t.Log("this client does not guarantee it")
		return
	}
	const writers = 4
	name := c.Dir + "/model"
	texts := make([]string, writers)
	errs := make([]error, writers)
	var all sync.WaitGroup
	for i := range writers {
		texts[i] = strings.Repeat(fmt.Sprint(i), 1000)
		all.Go(func() {
			f, err := c.FS.Create(t.Context(), name)
			if err == nil {
				_, err = io.WriteString(f, texts[i])
			}
			if err == nil {
				err = f.CommitNew()
			}
			errs[i] = err
		})
	}
	all.Wait()
	won := -1
	for i, err := range errs {
		switch {
		case err == nil && won >= 0:
			t.Errorf("writers %d and %d both have the name", won, i)
		case err == nil:
			won = i
		case !errors.Is(err, fs.ErrExist):
			t.Errorf("writer %d: %v, want ErrExist", i, err)
		}
	}
	if won < 0 {
		t.Fatal("no writer has the name")
	}
	must(t, c.FS, name, 0, []byte(texts[won]))
	left(t, c.FS, c.Dir)
}

// fault checks the operation, name, cause and advice of an error.
func fault(t *testing.T, what string, err, want error, name string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error", what)
		return
	}
	e, ok := errors.AsType[*hdfsio.Error](err)
	if !ok {
		t.Errorf("%s: %T %v, want an hdfsio.Error", what, err, err)
		return
	}
	if want != nil && !errors.Is(err, want) {
		t.Errorf("%s: %v is not %v", what, err, want)
	}
	if !strings.Contains(e.Error(), name) || e.Op == "" {
		t.Errorf("%s: %q does not name the operation and %s", what, e, name)
	}
	if e.Advice == "" {
		t.Errorf("%s: %q has no advice", what, e)
	}
}

func faults(t *testing.T, c Config) {
	missing := c.Dir + "/missing"
	_, err := c.FS.Open(t.Context(), missing, 0)
	fault(t, "opening what is missing", err, fs.ErrNotExist, missing)
	_, err = c.FS.Create(t.Context(), missing+"/model")
	fault(t, "a file in a folder that is missing", err, fs.ErrNotExist, missing)
	_, err = c.FS.Stat(t.Context(), missing)
	fault(t, "describing what is missing", err, fs.ErrNotExist, missing)
	fault(t, "removing what is missing", c.FS.Remove(t.Context(), missing), fs.ErrNotExist, missing)
	_, err = c.FS.Open(t.Context(), c.Dir, 0)
	fault(t, "reading a folder", err, nil, c.Dir)
	_, err = c.FS.List(t.Context(), c.Dir+"/[")
	fault(t, "a pattern that is none", err, nil, c.Dir)
	if found, err := c.FS.List(t.Context(), missing+"/*"); err != nil || len(found) != 0 {
		t.Errorf("a pattern in a folder that is missing: %v, %v", found, err)
	}
}

func list(t *testing.T, c Config) {
	files := []string{"a1", "a2", "b1", ".hidden", "sub/a3", "other/a4", "a[5]"}
	for _, name := range files {
		if dir, _, ok := strings.Cut(name, "/"); ok {
			if err := c.FS.Mkdir(t.Context(), c.Dir+"/"+dir); err != nil {
				t.Fatal(err)
			}
		}
		write(t, c.FS, c.Dir+"/"+name, []byte(name))
	}
	patterns := map[string][]string{
		"a*":       {"a1", "a2", "a[5]"},
		"?1":       {"a1", "b1"},
		"[ab]1":    {"a1", "b1"},
		"*":        {"a1", "a2", "a[5]", "b1", "other", "sub"},
		".*":       {".hidden"},
		"*/a*":     {"other/a4", "sub/a3"},
		"sub/*":    {"sub/a3"},
		"s*/a3":    {"sub/a3"},
		"a1":       {"a1"},
		`a\[5\]`:   {"a[5]"},
		"none*":    nil,
		"none":     nil,
		"*/a3":     {"sub/a3"},
		"a1/*":     nil,
		"*/none/*": nil,
	}
	for pattern, want := range patterns {
		if runtime.GOOS == "windows" && strings.Contains(pattern, `\`) {
			continue // filepath.Match knows no escapes there
		}
		infos, err := c.FS.List(t.Context(), c.Dir+"/"+pattern)
		if err != nil {
			t.Errorf("%s: %v", pattern, err)
			continue
		}
		var got []string
		for _, info := range infos {
			got = append(got, strings.TrimPrefix(info.Name, c.Dir+"/"))
		}
		if !slices.Equal(want, got) {
			t.Errorf("%s matches %q, want %q", pattern, got, want)
		}
	}
	// A file whose name looks like a pattern is matched by its name.
	got, err := hdfsio.Expand(t.Context(), c.FS, []string{c.Dir + "/a[5]"})
	if err != nil || !slices.Equal(got, []string{c.Dir + "/a[5]"}) {
		t.Errorf("Expand: %q, %v", got, err)
	}
}

func names(t *testing.T, c Config) {
	strange := []string{"with space", "100%25", "a+b", "a;b=c", "a&b", "a#b", "ünïcödé", "a,b{c}", "-n", "~", "a'b"}
	if runtime.GOOS != "windows" {
		strange = append(strange, "what?", "a*b", `a"b`)
	}
	for _, name := range strange {
		full := c.Dir + "/" + name
		write(t, c.FS, full, []byte(name))
		must(t, c.FS, full, 0, []byte(name))
		if err := c.FS.Remove(t.Context(), full); err != nil {
			t.Error(err)
		}
	}
	left(t, c.FS, c.Dir)
	if infos, err := c.FS.List(t.Context(), c.Dir+"/*"); err != nil || len(infos) != 0 {
		t.Errorf("after all were removed: %v, %v", infos, err)
	}
}

func folders(t *testing.T, c Config) {
	deep := c.Dir + "/x/y/z"
	for range 2 { // it may exist already
		if err := c.FS.Mkdir(t.Context(), deep); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := c.FS.Stat(t.Context(), deep); err != nil || !info.Mode.IsDir() {
		t.Errorf("%s is described as %+v, %v", deep, info, err)
	}
	if err := c.FS.Remove(t.Context(), c.Dir+"/x/y"); err == nil {
		t.Error("a folder that is not empty was removed")
	}
	if err := errors.Join(c.FS.Remove(t.Context(), deep), c.FS.Remove(t.Context(), c.Dir+"/x/y")); err != nil {
		t.Error(err)
	}
	if _, err := c.FS.Stat(t.Context(), deep); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that was removed: %v", err)
	}
	if _, err := c.FS.Create(t.Context(), c.Dir+"/x"); err == nil {
		t.Error("a file in the place of a folder: no error")
	}
}

func shares(t *testing.T, c Config) {
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "%d |a x%d y\n", i%2, i*i)
	}
	plain, zipped := c.Dir+"/plain.vw", c.Dir+"/zipped.vw.gz"
	write(t, c.FS, plain, []byte(text.String()))
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text.String()); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, c.FS, zipped, b.Bytes())
	for _, kind := range []hdfsio.Kind{hdfsio.Bytes, hdfsio.Lines} {
		lines := map[string]int{}
		const total = 3
		for rank := range total {
			parts, err := hdfsio.Split(t.Context(), c.FS, []string{plain, zipped}, hdfsio.Shard{Kind: kind, Rank: rank, Total: total})
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range parts {
				r, err := p.Open(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				b, err := io.ReadAll(r)
				if err = errors.Join(err, r.Close()); err != nil {
					t.Fatal(err)
				}
				for line := range strings.Lines(string(b)) {
					lines[line]++
				}
			}
		}
		for line := range strings.Lines(text.String()) {
			if lines[line] != 2 {
				t.Fatalf("%v: %q was read %d times, want 2: once of each file", kind, line, lines[line])
			}
		}
		if len(lines) != 1000 {
			t.Errorf("%v: %d different lines, want 1000", kind, len(lines))
		}
	}
}

func blocks(t *testing.T, c Config) {
	l, ok := c.FS.(hdfsio.Locator)
	if !ok {
		t.Log("this file system does not report locations of blocks")
		return
	}
	name := c.Dir + "/file"
	write(t, c.FS, name, noise(100_000))
	found, err := l.Blocks(t.Context(), name)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Log(err)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	var at int64
	for _, b := range found {
		if b.Offset != at || b.Length <= 0 || len(b.Hosts) == 0 {
			t.Errorf("block %+v, want one at byte %d with a host", b, at)
		}
		at = b.Offset + b.Length
	}
	if at != 100_000 {
		t.Errorf("the blocks end at byte %d, want 100000", at)
	}
}
