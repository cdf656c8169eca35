// SPDX-License-Identifier: Apache-2.0

package libsvm_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/internal/featuretest"
	"github.com/gvw-project/gvw/feature/libsvm"
)

func parser(t testing.TB, cfg feature.Config) *libsvm.Parser {
	t.Helper()
	p, err := libsvm.NewParser(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// asText returns the example that vw's text parser reads from a line.
func asText(t interface {
	Helper()
	Fatal(args ...any)
}, cfg feature.Config, line string,
) *feature.Batch {
	t.Helper()
	var b feature.Batch
	p, err := feature.NewParser(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.AppendLine(&b, []byte(line), 1); err != nil {
		t.Fatal(err)
	}
	return &b
}

func TestLines(t *testing.T) {
	cfg := feature.Config{Bits: 18}
	for line, text := range map[string]string{
		"":                           "",
		"  \t\r\n":                   "",
		"# nothing":                  "",
		" # nothing\n":               "",
		"1":                          "1 |",
		"-1 # a comment: 1:2":        "-1 |",
		"+1 0:1 1:2.5 7:0 7:-1e-3\n": "1 | 0:1 1:2.5 7:-1e-3",
		"0.5\t3:1\t 2:2  \r\n":       "0.5 | 3:1 2:2",
		"1 qid:12 5:1#6:1":           "1 | 5:1",
		"1 012:3 4294967297:inf":     "1 | 12:3 1:inf",
		"\xef\xbb\xbf1e1 1:1":        "10 | 1:1",
		"-inf 1:0x10":                "-inf | 1:16",
	} {
		var got feature.Batch
		if err := parser(t, cfg).AppendLine(&got, []byte(line), 1); err != nil {
			t.Errorf("%q: %v", line, err)
		}
		if diff := cmp.Diff(asText(t, cfg, text), &got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q (-text +libsvm):\n%s", line, diff)
		}
	}
}

func TestErrors(t *testing.T) {
	for line, want := range map[string]string{
		"x 1:2":          `column 1: the label "x" is not a number`,
		"1,2 1:2":        `column 1: the label "1,2" is not a number`,
		"nan 1:2":        `column 1: the label "nan" is not a number`,
		" e 1:2":         `column 2: the label "e" is not a number`,
		"1:2 3:4":        `column 1: the line begins with a feature, "1:2": a label comes first`,
		"1 2":            `column 3: "2" is not index:value with an index of digits`,
		"1 a:2":          `column 3: "a:2" is not index:value with an index of digits`,
		"1 -1:2":         `column 3: "-1:2" is not index:value with an index of digits`,
		"1 :2":           `column 3: ":2" is not index:value with an index of digits`,
		"1 3:":           `column 5: the value "" of feature 3 is not a number`,
		"1 3: 4":         `column 5: the value "" of feature 3 is not a number`,
		"1 3:x":          `column 5: the value "x" of feature 3 is not a number`,
		"1 3:-":          `column 5: the value "-" of feature 3 is not a number`,
		"1 3:1:2":        `column 5: the value "1:2" of feature 3 is not a number`,
		"1 3:NaN":        `column 5: the value "NaN" of feature 3 is not a number`,
		"1 3:1 qid:2":    `column 7: "qid:2" is not index:value with an index of digits`,
		"1 3:1 4:2 |a b": `column 11: "|a" is not index:value with an index of digits`,
	} {
		p := parser(t, feature.Config{Bits: 18})
		var got feature.Batch
		err := p.AppendLine(&got, []byte(line), 3)
		if m, ok := errors.AsType[*feature.MalformedError](err); !ok || m.Line != 3 || err.Error() != want {
			t.Errorf("%q: got %v, want %s", line, err, want)
		}
		if diff := cmp.Diff(&feature.Batch{}, &got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q leaves\n%s", line, diff)
		}
	}
}

// TestSameExamplesAsText: an example in both formats gives the same batch.
func TestSameExamplesAsText(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		cfg := feature.Config{
			Bits:         uint(rapid.IntRange(1, 31).Draw(rt, "bits")),
			HashAll:      rapid.Bool().Draw(rt, "all"),
			HashSeed:     uint32(rapid.IntRange(0, 3).Draw(rt, "seed")),
			NoConstant:   rapid.Bool().Draw(rt, "noconstant"),
			Interactions: rapid.SampledFrom([][]string{nil, {"::"}}).Draw(rt, "interactions"),
			Names:        rapid.Bool().Draw(rt, "names"),
		}
		label := rapid.SampledFrom([]string{"1", "-1", "+1", "0.25", "3e2"}).Draw(rt, "label")
		line, text := label, label+" |"
		for i := range rapid.IntRange(0, 6).Draw(rt, "features") {
			f := fmt.Sprintf("%d:%s", rapid.Uint32().Draw(rt, fmt.Sprint("index", i)),
				rapid.SampledFrom([]string{"1", "0", "-2.5", "1e-3", "0.12345678", "123456789", "inf"}).Draw(rt, "value"))
			line += rapid.SampledFrom([]string{" ", "\t", "  "}).Draw(rt, "blank") + f
			text += " " + f
		}
		line += rapid.SampledFrom([]string{"", " ", " # 7:1", "#", "\r"}).Draw(rt, "end") + "\n"
		p, err := libsvm.NewParser(cfg)
		if err != nil {
			rt.Fatal(err)
		}
		var got feature.Batch
		if err := p.AppendLine(&got, []byte(line), 1); err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(asText(rt, cfg, text), &got, cmpopts.EquateEmpty()); diff != "" {
			rt.Errorf("%q (-text +libsvm):\n%s", line, diff)
		}
	})
}

func TestNothingIsAllocatedPerExample(t *testing.T) {
	p := parser(t, feature.Config{Bits: 18})
	line := []byte("+1 qid:3 " + strings.Repeat("17:0.5 123456:1e-3 7:1 ", 30) + "# comment\n")
	var b feature.Batch
	n := testing.AllocsPerRun(10, func() {
		b.Reset()
		for range 3 {
			if err := p.AppendLine(&b, line, 1); err != nil {
				t.Fatal(err)
			}
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzAppendLine: no line makes the parser panic or leave an inconsistent batch. An error does
// not change the batch, and an accepted line gives the same example as text.
func FuzzAppendLine(f *testing.F) {
	for i, line := range []string{"1 1:2 3:4.5", "-1 qid:3 7:1 # c", "+1e3 0:inf 5:0x1\r\n", "# c", "1:2", "1 a:b", "1 3:", "0 012:1 4294967296:-0"} {
		f.Add([]byte(line), uint8(i))
	}
	f.Fuzz(func(t *testing.T, line []byte, options uint8) {
		if len(line) > 4096 {
			return
		}
		cfg := feature.Config{Bits: 1 + uint(options>>3), HashAll: options&1 != 0, NoConstant: options&2 != 0}
		p := parser(t, cfg)
		var b feature.Batch
		for n := range 2 {
			err := p.AppendLine(&b, line, 1)
			featuretest.HoldsTogether(t, &b, cfg)
			if err == nil {
				continue
			}
			if _, ok := errors.AsType[*feature.MalformedError](err); !ok || len(b.Examples) != 0 || n > 0 && p.AppendLine(&b, line, 1) == nil {
				t.Fatalf("%d examples, %v", len(b.Examples), err)
			}
		}
		if len(b.Examples) == 0 {
			return
		}
		plain, _, _ := strings.Cut(string(feature.TrimLine(line)), "#")
		words := strings.FieldsFunc(plain, func(r rune) bool { return r == ' ' || r == '\t' || r == '\r' })
		if len(words) > 1 && strings.HasPrefix(words[1], "qid:") {
			words = append(words[:1], words[2:]...)
		}
		want := asText(t, cfg, words[0]+" | "+strings.Join(words[1:], " "))
		if diff := cmp.Diff(want.FeaturesOf(&want.Examples[0]), b.FeaturesOf(&b.Examples[0]), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q (-text +libsvm):\n%s", line, diff)
		}
	})
}

func BenchmarkAppendLine(b *testing.B) {
	p := parser(b, feature.Config{Bits: 18})
	line := []byte("1 3:1 11:1 14:1 19:1 39:1 42:1 55:1 64:1 67:1 73:1 75:0.5 76:1 80:1 83:0.125\n")
	var batch feature.Batch
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		batch.Reset()
		if err := p.AppendLine(&batch, line, 1); err != nil {
			b.Fatal(err)
		}
	}
}
