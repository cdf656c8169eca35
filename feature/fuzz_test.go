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
		featuretest.HoldsTogether(t, &two, cfg)
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
