// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// share returns the lines of a rank in a pass.
func share(t interface{ Fatal(...any) }, c DataConfig, pass int) (lines []string) {
	d, err := LoadData(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	for line, err := range d.Lines(context.Background(), pass) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
	}
	return lines
}

// allOf returns the lines of a rank's share that All has, sorted.
func allOf(t interface{ Fatal(...any) }, c DataConfig) (lines []string) {
	d, err := LoadData(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	last := Line{}
	for line, err := range d.All(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		if line.File == last.File && line.Number != last.Number+1 || line.File != last.File && line.Number != 1 {
			t.Fatal("line", line.Number, "of", line.File, "after line", last.Number)
		}
		if last = line; line.Share == c.Rank {
			lines = append(lines, string(line.Text))
		}
	}
	slices.Sort(lines)
	return lines
}

// The shares of all ranks have each line once, they differ in size by at most one line, and they depend only on the
// configuration. The order depends on the pass.
func TestSharesAreDisjointAndComplete(t *testing.T) {
	dir := t.TempDir()
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		sizes := rapid.SliceOfN(rapid.IntRange(0, 40), 1, 4).Draw(rt, "lines of files")
		c := DataConfig{
			Of: rapid.IntRange(1, 7).Draw(rt, "ranks"), Seed: rapid.Uint64().Draw(rt, "seed"),
			Window: rapid.SampledFrom([]int{0, 1, 50}).Draw(rt, "window"),
		}
		var want []string
		for i, n := range sizes {
			name := filepath.Join(dir, fmt.Sprintf("%d-%d", run, i))
			var text strings.Builder
			for j := range n {
				want = append(want, fmt.Sprintf("line %d of file %d", j, i))
				text.WriteString(want[len(want)-1])
				if j < n-1 || i%2 == 0 { // the last line of a file may have no end
					text.WriteString("\n")
				}
			}
			if err := os.WriteFile(name, []byte(text.String()), 0o600); err != nil {
				rt.Fatal(err)
			}
			c.Names = append(c.Names, name)
		}
		var got []string
		for c.Rank = range c.Of {
			own := share(rt, c, 0)
			if n := len(want) / c.Of; len(own) < n || len(own) > n+1 {
				rt.Fatalf("rank %d of %d has %d of %d lines", c.Rank, c.Of, len(own), len(want))
			}
			if again := share(rt, c, 0); !slices.Equal(again, own) {
				rt.Fatalf("rank %d: got %q, then %q", c.Rank, own, again)
			}
			later := share(rt, c, 1)
			if slices.Sort(later); !slices.Equal(later, slices.Sorted(slices.Values(own))) {
				rt.Fatalf("rank %d has other lines in the second pass", c.Rank)
			}
			got = append(got, own...)
			if shared := allOf(rt, c); !slices.Equal(shared, slices.Sorted(slices.Values(own))) {
				rt.Fatalf("rank %d: All has %q in its share, Lines %q", c.Rank, shared, own)
			}
		}
		slices.Sort(got)
		if slices.Sort(want); !slices.Equal(got, want) {
			rt.Fatalf("got %q, want %q", got, want)
		}
	})
}

func TestPassesHaveDifferentOrders(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	var text strings.Builder
	for i := range 200 {
		fmt.Fprintln(&text, i)
	}
	if err := os.WriteFile(name, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	c := DataConfig{Names: []string{name}, Of: 2}
	first, second := share(t, c, 0), share(t, c, 1)
	c.Seed = 1
	if other := share(t, c, 0); slices.Equal(first, second) || slices.Equal(first, other) || slices.IsSorted(first) {
		t.Errorf("passes %q and %q, other seed %q: want three orders", first[:5], second[:5], other[:5])
	}
}

func TestLoadDataReadsPatternsAndCompressedFiles(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "part-1.gz"))
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	_, err = z.Write([]byte("a\nb\n"))
	if err := errors.Join(err, z.Close(), f.Close(), os.WriteFile(filepath.Join(dir, "part-2"), []byte("c\r\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	c := DataConfig{Names: []string{filepath.Join(dir, "part-*")}, Of: 1}
	got := share(t, c, 0)
	if slices.Sort(got); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("got %q", got)
	}
	d, err := LoadData(t.Context(), c)
	if err != nil || len(d.Files()) != 2 {
		t.Errorf("got the files %v and %v, want 2", d.Files(), err)
	}
	for range d.Lines(t.Context(), 0) {
		break // a caller may stop
	}
}

func TestLoadDataNamesWhatIsWrong(t *testing.T) {
	err := DataConfig{Rank: 2, Of: 2, Window: -1}.Validate()
	for _, want := range []string{"Names: got no file", "Rank: got 2 of 2", "Window, MaxLine: got -1 and 0"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	name := filepath.Join(t.TempDir(), "long")
	if _, err := LoadData(t.Context(), DataConfig{Names: []string{name}, Of: 1}); err == nil || !strings.Contains(err.Error(), name) {
		t.Errorf("a missing file: got %v", err)
	}
	if err := os.WriteFile(name, []byte("123456\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := LoadData(t.Context(), DataConfig{Names: []string{name}, Of: 1, MaxLine: 5})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range d.Lines(t.Context(), 0) {
		if err == nil || !strings.Contains(err.Error(), "more than 5 bytes") {
			t.Errorf("a long line: got %v", err)
		}
	}
}
