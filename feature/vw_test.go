// SPDX-License-Identifier: Apache-2.0

package feature_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/feature"
)

// TestExamplesAreThoseOfVW compares each line of testdata/lines.vw with what the
// real vw reads in it, bit by bit. testdata/vw_examples.py made both.
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
			golden, err := os.ReadFile("testdata/examples-" + name + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Split(strings.TrimSpace(string(golden)), "\n")[1:]
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
					got = inVWsWords(&b)
				} else if strings.HasSuffix(want[i], " 1") {
					continue
				}
				if diff := cmp.Diff(want[i], got); diff != "" {
					t.Errorf("line %d %q (-vw +gvw):\n%s", i+1, line, diff)
				}
			}
		})
	}
}

// inVWsWords prints the one example of b as vw_examples.py prints vw's.
func inVWsWords(b *feature.Batch) string {
	ex := &b.Examples[0]
	weight := fmt.Sprintf("%08x", math.Float32bits(ex.Weight))
	for _, w := range b.Warnings {
		var negative float32 // vw keeps it and does not learn, here it is 0
		if _, err := fmt.Sscanf(w.Text, "invalid importance weight (%g)", &negative); err == nil {
			weight = fmt.Sprintf("%08x", math.Float32bits(negative))
		}
	}
	tag := hex.EncodeToString(b.TagOf(ex))
	if tag == "" {
		tag = "-"
	}
	var s strings.Builder
	fmt.Fprintf(&s, "%08x %s %08x %s 0", math.Float32bits(ex.Label), weight, math.Float32bits(ex.Initial), tag)
	for _, span := range b.SpansOf(ex) {
		fmt.Fprintf(&s, " | %02x", span.NS)
		for _, f := range b.Features[span.Lo:span.Hi] {
			fmt.Fprintf(&s, " %x:%08x", f.Index, math.Float32bits(f.Value))
		}
	}
	return s.String()
}
