// SPDX-License-Identifier: Apache-2.0

package feature_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/internal/featuretest"
)

// FuzzAppendLine: no line makes the parser panic or leave an inconsistent batch, and the
// earlier contents of the batch have no effect.
func FuzzAppendLine(f *testing.F) {
	text, err := os.ReadFile("testdata/lines.vw")
	if err != nil {
		f.Fatal(err)
	}
	for i, line := range bytes.Split(text, []byte("\n")) {
		f.Add(line, uint8(i))
	}
	f.Fuzz(func(t *testing.T, line []byte, options uint8) {
		if len(line) > 4096 {
			return
		}
		cfg := feature.Config{Bits: 1 + uint(options>>3), HashAll: options&1 != 0, NoConstant: options&2 != 0}
		if options&4 != 0 {
			cfg.Interactions = []string{"::", "ba"}
		}
		p, err := feature.NewParser(cfg)
		if err != nil {
			t.Fatal(err)
		}
		var one, two feature.Batch
		appendLine(t, p, &one, line)
		appendLine(t, p, &two, []byte("1 'x |a b |c d |a e"))
		appendLine(t, p, &two, line)
		featuretest.HoldsTogether(t, &two, cfg)
		if len(one.Examples) == 0 {
			return
		}
		a, b := &one.Examples[0], &two.Examples[1]
		if !bytes.Equal(one.TagOf(a), two.TagOf(b)) {
			t.Errorf("tags %q, %q", one.TagOf(a), two.TagOf(b))
		}
		if diff := cmp.Diff(one.FeaturesOf(a), two.FeaturesOf(b), sameNaN, emptyIsNil); diff != "" {
			t.Errorf("features of the line by itself and after another line:\n%s", diff)
		}
	})
}

// optionSets are the sets from which FuzzOptions draws.
var optionSets = []string{
	"-q ::", "--cubic ::: --permutations", "--interactions aabb -q aa -q ba --leave_duplicate_interactions", "--interactions :a:b",
	"-q ab --ignore_linear ab", "--ignore_linear \\x20 -q ::", "--keep ab --redefine b:=a", "--redefine a:=: --ignore b",
	"--ngram 2 --skips 1", "--ngram 4 --skips a2 -q aa", "--affix +1,-2,+3a,-1b", "--spelling _ --spelling a --affix +7a --ngram 2",
	"--feature_limit 2", "--feature_limit a1 --ngram 3 --spelling a -q a\\x85 --noconstant", "--hash all -b 5 --feature_limit 3 --cubic aab",
}

// FuzzOptions: with every option on namespaces, a line gives the same features with names and
// without, and with interactions added at once or later.
func FuzzOptions(f *testing.F) {
	text, err := os.ReadFile("testdata/lines.vw")
	if err != nil {
		f.Fatal(err)
	}
	for i, line := range bytes.Split(text, []byte("\n")) {
		f.Add(line, uint8(i))
	}
	f.Fuzz(func(t *testing.T, line []byte, set uint8) {
		if len(line) > 300 { // three namespaces make a million of it
			return
		}
		cfg := fromOptions(t, optionSets[int(set)%len(optionSets)])
		parsed := func(cfg feature.Config) *feature.Batch {
			p, err := feature.NewParser(cfg)
			if err != nil {
				t.Fatal(err)
			}
			var b feature.Batch
			appendLine(t, p, &b, []byte("1 |b x |a y"))
			appendLine(t, p, &b, line)
			featuretest.HoldsTogether(t, &b, cfg)
			return &b
		}
		want := parsed(cfg)
		named := cfg
		named.Names = true
		got := parsed(named)
		if len(got.Names) != len(got.Features) {
			t.Fatalf("%d names of %d features", len(got.Names), len(got.Features))
		}
		got.Names, got.NameText = nil, nil
		if diff := cmp.Diff(want, got, sameNaN, emptyIsNil); diff != "" {
			t.Errorf("without names and with:\n%s", diff)
		}
		x, err := feature.NewInteractor(cfg)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Interactions, cfg.IgnoreLinear = nil, nil
		var late feature.Batch
		if err := x.Expand(&late, parsed(cfg)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, &late, sameNaN, emptyIsNil); diff != "" {
			t.Errorf("interactions at once and later:\n%s", diff)
		}
	})
}

var sameNaN = cmp.Comparer(func(x, y float32) bool { return x == y || x != x && y != y })

func appendLine(t *testing.T, p *feature.Parser, b *feature.Batch, line []byte) {
	t.Helper()
	if err := p.AppendLine(b, line, 1); err != nil {
		t.Fatal(err)
	}
}
