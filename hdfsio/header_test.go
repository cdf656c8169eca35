// SPDX-License-Identifier: Apache-2.0

package hdfsio

import (
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestEveryPartHasItsHeader: for every share of a file, the header is the file's first line,
// and only one rank's part begins with it.
func TestEveryPartHasItsHeader(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		kind := rapid.SampledFrom([]Kind{Bytes, Lines}).Draw(rt, "kind")
		total := rapid.IntRange(1, 5).Draw(rt, "total")
		var names, headers []string
		for _, base := range []string{"a.csv", "b.csv.gz", "c.csv.zst"} {
			lines := rapid.SliceOfN(rapid.StringMatching(`[a-z,]{0,12}`), 1, 9).Draw(rt, base)
			text := strings.Join(lines, "\n") + rapid.SampledFrom([]string{"\n", "\r\n", "x"}).Draw(rt, "end")
			name := filepath.Join(dir, base)
			writeFile(t, name, compress(t, name, text))
			first, _, _ := strings.Cut(text, "\n")
			names, headers = append(names, name), append(headers, first)
		}
		owners := make(map[string]int)
		for rank := range total {
			parts, err := Split(t.Context(), Local{}, names, Shard{Kind: kind, Rank: rank, Total: total})
			if err != nil {
				rt.Fatal(err)
			}
			for _, p := range parts {
				text, err := readPart(p, 16)
				if err != nil {
					rt.Fatal(err)
				}
				if strings.HasSuffix(p.Name, "(no bytes)") {
					continue
				}
				line, own, err := p.Header(100)
				if err != nil {
					rt.Fatal(err)
				}
				for i, name := range names {
					if !strings.HasPrefix(p.Name, name) {
						continue
					}
					if own {
						owners[name]++
						line = []byte(text)
					}
					if first, _, _ := strings.Cut(string(line), "\n"); first != headers[i] {
						rt.Fatalf("%v, %s: header %q (own: %t), want %q", kind, p.Name, line, own, headers[i])
					}
				}
			}
		}
		for _, name := range names {
			if owners[name] != 1 {
				rt.Fatalf("%v: %d of %d parts begin with the header of %s", kind, owners[name], total, name)
			}
		}
	})
}

func TestHeaderHasALimit(t *testing.T) {
	name := filepath.Join(t.TempDir(), "wide.csv")
	writeFile(t, name, []byte(strings.Repeat("x", 9999)+"\n1\n2\n3\n"))
	parts, err := Split(t.Context(), Local{}, []string{name}, Shard{Kind: Lines, Rank: 1, Total: 2})
	if err != nil {
		t.Fatal(err)
	}
	if line, own, err := parts[0].Header(9999); err != nil || own || len(line) != 10000 {
		t.Errorf("got %d bytes, %t, %v", len(line), own, err)
	}
	if _, _, err := parts[0].Header(9998); err == nil || !strings.Contains(err.Error(), "want at most 9998") {
		t.Errorf("got %v", err)
	}
}
