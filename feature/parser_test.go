// SPDX-License-Identifier: Apache-2.0

package feature_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/feature"
)

var emptyIsNil = cmpopts.EquateEmpty()

// TestWarnings checks the text of each recovery. TestExamplesAreThoseOfVW checks the recovered
// examples.
func TestWarnings(t *testing.T) {
	for line, want := range map[string][]string{
		"1 | a:2 b\tc": nil,
		"1 2 3 4 | a":  {`4 is too many tokens for a simple label: "1 2 3 4 "; the example has no label`},
		"abc | a":      {`"abc" is not a good float, replacing with 0`},
		"1 nan | a":    {`"nan" is not a good float, replacing with 0`},
		"1 -2 | a":     {`invalid importance weight (-2); importance weights must be non-negative; the example is predicted, not learned from`},
		"| x:nan":      {`invalid feature value "nan" read as NaN, replacing with 0`},
		"|a:nan x":     {`invalid namespace value "nan" read as NaN, replacing with 1`},
		"|a:2":         {`malformed example! Float expected after : "|a:"; the namespace has no features`},
		"1 |:3 x":      {`malformed example! '|',String,space, or EOL expected after : "|"; the rest of the line is ignored`},
		"| x:1:2 y":    {`malformed example! '|',space, or EOL expected after : "| x:1"; the rest of the line is ignored`},
		"|a:x y":       {`malformed example! '|',space, or EOL expected after : "|a:"; the rest of the line is ignored`},
		"|a x\r y":     nil,
		"| " + strings.Repeat("long", 40) + ":1a": {
			`malformed example! '|',space, or EOL expected after : "` + strings.Repeat("long", 40)[102:] + `:1"; the rest of the line is ignored`,
		},
		"|" + strings.Repeat(" x:nan", 20): append(
			repeat(`invalid feature value "nan" read as NaN, replacing with 0`, 7),
			"more is wrong with this line; further warnings are left out"),
	} {
		var got []string
		for _, w := range parse(t, feature.Config{Bits: 18}, line).Warnings {
			if w.Line != 1 {
				t.Errorf("%q: line %d", line, w.Line)
			}
			got = append(got, w.Text)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", line, diff)
		}
	}
}

func repeat(s string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = s
	}
	return all
}

func TestConstantAndSpans(t *testing.T) {
	b := parse(t, feature.Config{Bits: 18}, "1 |a x |b y |a z", "", "\r\n", "-1 'q | c\n")
	want := &feature.Batch{
		Examples: []feature.Example{
			{Label: 1, Weight: 1, SpanLo: 0, SpanHi: 3, FeatLo: 0, FeatHi: 4},
			{Label: -1, Weight: 1, TagLo: 0, TagHi: 1, SpanLo: 3, SpanHi: 5, FeatLo: 4, FeatHi: 6},
		},
		Spans: []feature.Span{
			{NS: 'a', Lo: 0, Hi: 2},
			{NS: 'b', Lo: 2, Hi: 3},
			{NS: feature.ConstantNamespace, Lo: 3, Hi: 4},
			{NS: ' ', Lo: 4, Hi: 5},
			{NS: feature.ConstantNamespace, Lo: 5, Hi: 6},
		},
		// As vw --audit shows them.
		Features: []feature.Feature{{55432, 1}, {202246, 1}, {152274, 1}, {116060, 1}, {185951, 1}, {116060, 1}},
		Tags:     []byte("q"),
	}
	if diff := cmp.Diff(want, b, emptyIsNil); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if !b.Examples[0].Labeled() {
		t.Error("the first example has a label")
	}
}

func TestIndexIsThatOfTheParser(t *testing.T) {
	for _, cfg := range []feature.Config{{Bits: 18}, {Bits: 32, HashAll: true, HashSeed: 9}, {Bits: 7, HashSeed: 3}} {
		for _, ns := range []string{"", "a", "12"} {
			for _, name := range []string{"x", "17", "averyverylongname"} {
				b := parse(t, cfg, fmt.Sprintf("|%s %s", ns, name))
				if got, want := cfg.Index(ns, name), b.Features[0].Index; got != want {
					t.Errorf("%+v: %s^%s: %d, the parser has %d", cfg, ns, name, got, want)
				}
			}
		}
	}
}

func TestConfigReportsAllFaults(t *testing.T) {
	cfg := feature.Config{Bits: 33, Interactions: []string{"ab", "abc", "a", ""}, MaxLine: -1}
	_, err := feature.NewParser(cfg)
	want := `feature: 33 bits: want 1 to 32
feature: interaction "a": want 2 to 32 namespaces, by the first byte of their names ("ab"), got 1
feature: interaction "": want 2 to 32 namespaces, by the first byte of their names ("ab"), got 0
feature: longest line of -1 bytes: want 0 (67108864) or more`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	if _, err := feature.NewInteractor(cfg); err == nil {
		t.Error("NewInteractor took it")
	}
}

// TestParseOfWrittenExample writes random examples as text and reads them back.
func TestParseOfWrittenExample(t *testing.T) {
	type ns struct {
		name  string
		mult  int
		names []string
		vals  []float32
	}
	name := rapid.StringMatching(`[a-zA-Z0-9_.\-éß]{1,20}`)
	value := rapid.Custom(func(t *rapid.T) float32 { // whole: vw's decimals are not exact
		return float32(rapid.IntRange(-4096, 4096).Draw(t, "n"))
	})
	rapid.Check(t, func(t *rapid.T) {
		cfg := feature.Config{Bits: uint(rapid.IntRange(1, 32).Draw(t, "bits")), HashAll: rapid.Bool().Draw(t, "all"), HashSeed: rapid.Uint32().Draw(t, "seed")}
		label, weight := value.Draw(t, "label"), float32(math.Abs(float64(value.Draw(t, "weight"))))
		tag := rapid.StringMatching(`[a-z0-9']{0,8}`).Draw(t, "tag")
		line := fmt.Sprintf("%v %v '%s ", label, weight, tag)
		var all []ns
		for range rapid.IntRange(0, 5).Draw(t, "namespaces") {
			n := ns{name: name.Draw(t, "namespace"), mult: rapid.IntRange(1, 4).Draw(t, "factor")}
			line += fmt.Sprintf("|%s:%d", n.name, n.mult)
			for range rapid.IntRange(0, 6).Draw(t, "features") {
				n.names = append(n.names, name.Draw(t, "feature"))
				n.vals = append(n.vals, value.Draw(t, "value"))
				line += fmt.Sprintf(" %s:%v", n.names[len(n.names)-1], n.vals[len(n.vals)-1])
			}
			line += " "
			all = append(all, n)
		}
		want := map[byte][]feature.Feature{feature.ConstantNamespace: {{Index: feature.ConstantIndex & cfg.Mask(), Value: 1}}}
		var order []byte
		for _, n := range all {
			for i, f := range n.names {
				if v := n.vals[i] * float32(n.mult); v != 0 {
					if want[n.name[0]] == nil {
						order = append(order, n.name[0])
					}
					want[n.name[0]] = append(want[n.name[0]], feature.Feature{Index: cfg.Index(n.name, f), Value: v})
				}
			}
		}
		order = append(order, feature.ConstantNamespace)

		p, err := feature.NewParser(cfg)
		if err != nil {
			t.Fatal(err)
		}
		var b feature.Batch
		if err := p.AppendLine(&b, []byte(line), 1); err != nil {
			t.Fatal(err)
		}
		ex := &b.Examples[0]
		if ex.Label != label || ex.Weight != weight || string(b.TagOf(ex)) != tag || len(b.Warnings) > 0 {
			t.Fatalf("%q: label %v, weight %v, tag %q, warnings %v", line, ex.Label, ex.Weight, b.TagOf(ex), b.Warnings)
		}
		var gotOrder []byte
		got := map[byte][]feature.Feature{}
		for _, s := range b.SpansOf(ex) {
			gotOrder = append(gotOrder, s.NS)
			got[s.NS] = b.Features[s.Lo:s.Hi]
		}
		if diff := cmp.Diff(order, gotOrder); diff != "" {
			t.Fatalf("%q: order of namespaces:\n%s", line, diff)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q:\n%s", line, diff)
		}
	})
}

func TestNothingIsAllocatedPerExample(t *testing.T) {
	lines := []string{
		"1 2 0.5 'tag |u a b c 17 longer_than_8:2 |v:2 x:0.5 y:0.123456789 z:+1 w:1e5 :3 s:blue |u d",
		"+1 |a x y |b z",
	}
	cfg := feature.Config{Bits: 18, Interactions: []string{"ab", "uu", ":v"}}
	p, err := feature.NewParser(cfg)
	if err != nil {
		t.Fatal(err)
	}
	x, err := feature.NewInteractor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var b, out feature.Batch
	src := parse(t, feature.Config{Bits: 18}, lines...)
	text := [][]byte{[]byte(lines[0]), []byte(lines[1])}
	if n := testing.AllocsPerRun(100, func() {
		b.Reset()
		for _, line := range text {
			if err := p.AppendLine(&b, line, 1); err != nil {
				t.Fatal(err)
			}
		}
	}); n != 0 {
		t.Errorf("AppendLine: %v allocations", n)
	}
	if n := testing.AllocsPerRun(100, func() {
		out.Reset()
		if err := x.Expand(&out, src); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("Expand: %v allocations", n)
	}
}
