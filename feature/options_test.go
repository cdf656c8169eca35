// SPDX-License-Identifier: Apache-2.0

package feature_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/feature"
)

// TestOptionsAreThoseOfVW compares names, indices, values and order with what the
// real vw shows in --audit (by testdata/vw_examples.py: options.txt for every option
// on namespaces, limits.txt for --feature_limit where many features share few
// weights), where names are kept and where they are not, and where interactions
// come at once and where they come after the cache.
func TestOptionsAreThoseOfVW(t *testing.T) {
	for _, name := range []string{"options.txt", "limits.txt"} {
		golden, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		for set := range strings.SplitSeq(strings.TrimPrefix(string(golden), "# "), "\n# ") {
			options, rows, _ := strings.Cut(set, "\n")
			t.Run(options, func(t *testing.T) {
				cfg := fromOptions(t, options)
				for row := range strings.Lines(rows) {
					line, want, _ := strings.Cut(strings.TrimSuffix(row, "\n"), "\t")
					compareWithVW(t, cfg, line, strings.Fields(want))
				}
			})
		}
	}
}

func compareWithVW(t *testing.T, cfg feature.Config, line string, want []string) {
	t.Helper()
	bare := make([]string, len(want)) // without names
	for i, f := range want {
		part := strings.Split(f, ":")
		bare[i] = strings.Join(part[len(part)-2:], ":")
	}
	cfg.Names = true
	named := map[string]*feature.Batch{"inline": parse(t, cfg, line), "expanded": expanded(t, cfg, line)}
	cfg.Names = false
	plain := map[string]*feature.Batch{"inline, no names": parse(t, cfg, line), "expanded, no names": expanded(t, cfg, line)}
	for name, b := range named {
		if diff := cmp.Diff(want, audit(b)); diff != "" {
			t.Errorf("%s: %q (-vw +gvw):\n%s", name, line, diff)
		}
	}
	for name, b := range plain {
		if diff := cmp.Diff(bare, audit(b)); diff != "" {
			t.Errorf("%s: %q (-vw +gvw):\n%s", name, line, diff)
		}
	}
}

// audit lists the features of the only example as vw's --audit does: hidden ones
// in their place, then the interactions.
func audit(b *feature.Batch) []string {
	ex := &b.Examples[0]
	all := []string{}
	show := func(i uint32) {
		f, name := b.Features[i], ""
		if len(b.Names) > 0 {
			name = string(b.NameOf(int(i))) + ":"
		}
		all = append(all, fmt.Sprintf("%s%d:%.6g", name, f.Index, f.Value))
	}
	rest := ex.FeatLo - ex.Hidden
	for _, s := range b.SpansOf(ex) {
		for i := s.Lo; i < s.Hi; i++ {
			show(i)
		}
		rest += s.Hi - s.Lo
	}
	for ; rest < ex.FeatHi; rest++ {
		show(rest)
	}
	return all
}

// TestOptionsAllocateNothing: a parser or an interactor does not allocate for lines of a known
// size.
func TestOptionsAllocateNothing(t *testing.T) {
	lines := []string{"1 |a x y z |b p q |c u", "-1 'tag |a foo bar:2 :3 s:blue |b x y:0.5 |ab again", "1 |d w | word"}
	for _, options := range []string{
		"-q ab -q aa --cubic abc", "-q ::", "--cubic ::: --permutations", "--interactions aabb --ignore_linear a",
		"--ngram 3 --skips 2 --ignore b", "--affix +2a,-3b,+1 --spelling a --redefine a:=b", "--feature_limit 2 --keep ab",
	} {
		cfg := fromOptions(t, options)
		p, err := feature.NewParser(cfg)
		if err != nil {
			t.Fatal(err)
		}
		var b feature.Batch
		var text []byte
		parseAll := func() {
			b.Reset()
			for i, line := range lines {
				text = append(text[:0], line...)
				if err := p.AppendLine(&b, text, int64(i+1)); err != nil {
					t.Fatal(err)
				}
			}
		}
		parseAll()
		if n := testing.AllocsPerRun(20, parseAll); n > 0 {
			t.Errorf("%s: the parser allocates %.0f times", options, n)
		}
		if !cfg.Expands() {
			continue
		}
		x, err := feature.NewInteractor(cfg)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Interactions, cfg.IgnoreLinear = nil, nil
		src := parse(t, cfg, lines...)
		expand := func() {
			b.Reset()
			if err := x.Expand(&b, src); err != nil {
				t.Fatal(err)
			}
		}
		expand()
		if n := testing.AllocsPerRun(20, expand); n > 0 {
			t.Errorf("%s: the interactor allocates %.0f times", options, n)
		}
	}
}
