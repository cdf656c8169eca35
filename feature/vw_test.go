// SPDX-License-Identifier: Apache-2.0

package feature_test

import (
	"bytes"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/internal/featuretest"
)

// TestExamplesAreThoseOfVW compares each line of testdata/lines.vw with the example that the
// real vw parses, bit by bit. testdata/vw_examples.py made both.
func TestExamplesAreThoseOfVW(t *testing.T) {
	text, err := os.ReadFile("testdata/lines.vw")
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	for name, cfg := range map[string]feature.Config{
		"default": {Bits: 18},
		"seed":    {Bits: 22, HashSeed: 7},
		"all":     {Bits: 24, HashAll: true},
		"allseed": {Bits: 31, HashAll: true, HashSeed: 7},
		"small":   {Bits: 1},
	} {
		t.Run(name, func(t *testing.T) {
			cfg.NoConstant = true // vw's cache does not hold it
			p, err := feature.NewParser(cfg)
			if err != nil {
				t.Fatal(err)
			}
			want := featuretest.Recorded(t, "testdata/examples-"+name+".txt")
			if len(want) != len(lines) {
				t.Fatalf("%d lines, %d examples of vw", len(lines), len(want))
			}
			for i, line := range lines {
				var b feature.Batch
				if err := p.AppendLine(&b, line, int64(i+1)); err != nil {
					t.Fatal(err)
				}
				got := "an empty line"
				if len(b.Examples) > 0 {
					got = featuretest.InVWsWords(&b)
				} else if strings.HasSuffix(want[i], " 1") {
					continue
				}
				if runtime.GOARCH != "amd64" {
					// The sign of the NaN that inf·0 makes is the processor's choice: x86 sets it.
					want[i] = strings.ReplaceAll(want[i], "ffc00000", "7fc00000")
				}
				if diff := cmp.Diff(want[i], got); diff != "" {
					t.Errorf("line %d %q (-vw +gvw):\n%s", i+1, line, diff)
				}
			}
		})
	}
}
