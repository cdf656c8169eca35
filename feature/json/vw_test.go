// SPDX-License-Identifier: Apache-2.0

package json_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/internal/featuretest"
	"github.com/gvw-project/gvw/feature/json"
)

// TestExamplesAreThoseOfVW compares each line of testdata/lines.json with the example that the
// real vw parses, bit by bit. testdata/vw_json.py made both.
func TestExamplesAreThoseOfVW(t *testing.T) {
	for name, cfg := range map[string]feature.Config{
		"default": {Bits: 18},
		"seed":    {Bits: 22, HashSeed: 7},
		"allseed": {Bits: 31, HashAll: true, HashSeed: 7},
		"chain":   {Bits: 24, ChainHash: true},
	} {
		t.Run(name, func(t *testing.T) {
			cfg.NoConstant = true // vw's cache does not hold it
			want := featuretest.Recorded(t, "testdata/examples-"+name+".txt")
			lines := lines(t)
			if len(want) != len(lines) {
				t.Fatalf("%d lines, %d examples of vw", len(lines), len(want))
			}
			p := parser(t, cfg)
			for i, line := range lines {
				var b feature.Batch
				if err := p.AppendLine(&b, line, int64(i+1)); err != nil {
					t.Errorf("line %d %q: %v", i+1, line, err)
					continue
				}
				if diff := cmp.Diff(want[i], featuretest.InVWsWords(&b)); diff != "" {
					t.Errorf("line %d %q (-vw +gvw):\n%s", i+1, line, diff)
				}
			}
		})
	}
}

// lines returns those of testdata/lines.json.
func lines(t testing.TB) [][]byte {
	t.Helper()
	text, err := os.ReadFile("testdata/lines.json")
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
}

func parser(t testing.TB, cfg feature.Config) *json.Parser {
	t.Helper()
	p, err := json.NewParser(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
