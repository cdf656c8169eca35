// SPDX-License-Identifier: Apache-2.0

package feature_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/feature"
)

// FuzzAppendLine: no line makes the parser panic or leave a batch that does not
// hold together, and what stood in the batch before plays no part.
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
		holdsTogether(t, &two, cfg)
		if len(one.Examples) == 0 {
			return
		}
		a, b := &one.Examples[0], &two.Examples[1]
		if !bytes.Equal(one.TagOf(a), two.TagOf(b)) {
			t.Errorf("tags %q, %q", one.TagOf(a), two.TagOf(b))
		}
		if diff := cmp.Diff(one.FeaturesOf(a), two.FeaturesOf(b), sameNaN, emptyIsNil); diff != "" {
			t.Errorf("features alone and after another line:\n%s", diff)
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

// holdsTogether checks that the arrays of b are divided among its examples
// without gaps, and that indices are below 2^Bits.
func holdsTogether(t *testing.T, b *feature.Batch, cfg feature.Config) {
	t.Helper()
	var tag, span, feat uint32
	for i := range b.Examples {
		ex := &b.Examples[i]
		if ex.TagLo != tag || ex.SpanLo != span || ex.FeatLo != feat || ex.TagHi < tag || ex.SpanHi < span || ex.FeatHi < feat {
			t.Fatalf("example %d: %+v, after tags to %d, spans to %d, features to %d", i, ex, tag, span, feat)
		}
		tag, span, feat = ex.TagHi, ex.SpanHi, ex.FeatHi
		at := ex.FeatLo
		for _, s := range b.SpansOf(ex) {
			if s.Lo != at || s.Hi <= s.Lo || s.Hi > ex.FeatHi {
				t.Fatalf("example %d: span %+v, after features to %d", i, s, at)
			}
			at = s.Hi
		}
		if len(cfg.Interactions) == 0 && at != ex.FeatHi {
			t.Fatalf("example %d: features to %d, spans to %d", i, ex.FeatHi, at)
		}
	}
	if int(tag) != len(b.Tags) || int(span) != len(b.Spans) || int(feat) != len(b.Features) {
		t.Fatalf("examples end at %d, %d, %d of %d, %d, %d", tag, span, feat, len(b.Tags), len(b.Spans), len(b.Features))
	}
	for _, f := range b.Features {
		if f.Index&^cfg.Mask() != 0 || cfg.Mask() == 0 {
			t.Fatalf("index %d of %d bits", f.Index, cfg.Bits)
		}
	}
}
