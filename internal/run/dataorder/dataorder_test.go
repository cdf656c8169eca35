// SPDX-License-Identifier: Apache-2.0

package dataorder

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/feature/stream"
	"github.com/gvw-project/gvw/hdfsio"
)

// Gathered predictions are in the order in which one process writes them, for any lines, ranks,
// passes and division of the data.
func TestGatheredIsInOrder(t *testing.T) {
	dir := t.TempDir()
	fsys := hdfsio.Local{}
	round := 0
	rapid.Check(t, func(rt *rapid.T) {
		round++
		var files []string
		var whole []string // the examples, in order
		for i := range rapid.IntRange(1, 3).Draw(rt, "files") {
			var text strings.Builder
			for _, blank := range rapid.SliceOfN(rapid.IntRange(0, 5), 0, 8).Draw(rt, "lines") {
				switch blank {
				case 0:
					text.WriteString("\n")
				case 1:
					text.WriteString("\r\n")
				case 2:
					text.WriteString("\ufeff\n")
				default:
					whole = append(whole, fmt.Sprintf("e%d", len(whole)))
					fmt.Fprintf(&text, "1 %s| a\n", whole[len(whole)-1])
				}
			}
			s := text.String()
			if rapid.Bool().Draw(rt, "open end") {
				s = strings.TrimSuffix(s, "\n")
			}
			name := filepath.Join(dir, fmt.Sprintf("%d.%d", round, i))
			if err := os.WriteFile(name, []byte(s), 0o644); err != nil {
				rt.Fatal(err)
			}
			files = append(files, name)
		}
		ranks := rapid.IntRange(1, 5).Draw(rt, "ranks")
		passes := rapid.IntRange(1, 3).Draw(rt, "passes")
		kind := rapid.SampledFrom([]hdfsio.Kind{hdfsio.Bytes, hdfsio.Lines}).Draw(rt, "kind")

		// Each rank writes the tags of its examples, pass by pass.
		pieces := make([]io.Reader, ranks)
		lists := make([][]string, ranks)
		for rank := range ranks {
			lists[rank] = files
			parts, err := hdfsio.Split(t.Context(), fsys, files, hdfsio.Shard{Kind: kind, Rank: rank, Total: ranks})
			if err != nil {
				rt.Fatal(err)
			}
			var pass strings.Builder
			for _, p := range parts {
				r, err := p.Open(t.Context())
				if err != nil {
					rt.Fatal(err)
				}
				b, err := io.ReadAll(r)
				if err := errors.Join(err, r.Close()); err != nil {
					rt.Fatal(err)
				}
				for line := range strings.Lines(string(b)) {
					if _, tag, ok := strings.Cut(strings.TrimPrefix(line, "\ufeff"), " "); ok {
						tag, _, _ = strings.Cut(tag, "|")
						pass.WriteString(tag + "\n")
					}
				}
			}
			pieces[rank] = strings.NewReader(strings.Repeat(pass.String(), passes))
		}
		d, err := Read(t.Context(), fsys, kind, lists, stream.Format{})
		if err != nil {
			rt.Fatal(err)
		}
		var got bytes.Buffer
		if err := d.Merge(&got, pieces); err != nil {
			rt.Fatal(err)
		}
		want := ""
		if len(whole) > 0 {
			want = strings.Repeat(strings.Join(whole, "\n")+"\n", passes)
		}
		if got.String() != want {
			rt.Fatalf("%v over %d ranks: got %q, want %q", kind, ranks, got.String(), want)
		}
	})
}

// Predictions that do not fit the data, for example because it has changed, are an error.
func TestUnevenPiecesAreRefused(t *testing.T) {
	for name, pieces := range map[string][]string{
		"one too few":       {"a\nb\n", "c\n"},
		"a pass too few":    {"a\nb\na\nb\n", "c\nd\n"},
		"one in pass two":   {"a\nb\na\n", "c\nd\nc\nd\n"},
		"one has something": {"", "c\nd\n"},
	} {
		in := make([]io.Reader, len(pieces))
		for i, p := range pieces {
			in[i] = strings.NewReader(p)
		}
		for _, d := range []Order{{counts: []int{2, 2}}, {counts: []int{2, 2}, owners: []uint16{0, 1, 0, 1}}} {
			for i, p := range pieces {
				in[i] = strings.NewReader(p)
			}
			if err := d.Merge(io.Discard, in); !errors.Is(err, ErrUneven) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestPredictionsWithoutExamplesAreRefused(t *testing.T) {
	err := Order{counts: []int{0}}.Merge(io.Discard, []io.Reader{strings.NewReader("a\n")})
	if !errors.Is(err, ErrUneven) {
		t.Error(err)
	}
}
