// SPDX-License-Identifier: Apache-2.0

package json_test

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/internal/featuretest"
	"github.com/gvw-project/gvw/feature/json"
)

// TestErrors: lines that vw refuses, and lines refused beyond that, give an error with the
// column and do not change the batch.
func TestErrors(t *testing.T) {
	for line, want := range map[string]string{
		``:                            `column 1: malformed JSON: an object is needed, like {"_label": 1, "x": 2}`,
		` `:                           `column 2: malformed JSON: an object is needed, like {"_label": 1, "x": 2}`,
		`null`:                        `column 1: malformed JSON: an object is needed, like {"_label": 1, "x": 2}`,
		`[1]`:                         `column 1: malformed JSON: an object is needed, like {"_label": 1, "x": 2}`,
		`{"x":1}{"y":2}`:              `column 8: malformed JSON: something follows the object`,
		`{"x":1`:                      `column 7: malformed JSON: a comma or '}' is needed`,
		`{"x":1,}`:                    `column 8: malformed JSON: a key is needed, like "x"`,
		`{x:1}`:                       `column 2: malformed JSON: a key is needed, like "x"`,
		`{"x" 1}`:                     `column 6: malformed JSON: a ':' is needed behind the key "x"`,
		`{"x":}`:                      `column 6: malformed JSON: a value is needed`,
		`{"x":tru}`:                   `column 6: malformed JSON: a value is needed`,
		`{"x":01}`:                    `column 7: malformed JSON: a comma or '}' is needed`,
		`{"x":.5}`:                    `column 6: malformed JSON: a value is needed`,
		`{"x":1.}`:                    `column 8: malformed JSON: a digit is needed behind the point`,
		`{"x":1e}`:                    `column 8: malformed JSON: a digit is needed in the exponent`,
		`{"x":1e309}`:                 `column 11: malformed JSON: the number is too large`,
		`{"x":-`:                      `column 7: malformed JSON: a value is needed`,
		`{"x":"a`:                     `column 6: malformed JSON: the text that begins here does not end`,
		`{"x":"\a"}`:                  `column 7: malformed JSON: unknown escape \a in a text`,
		`{"x":"\`:                     `column 7: malformed JSON: the text that ends here has no closing quote`,
		`{"x":"\u12"}`:                `column 7: malformed JSON: four hexadecimal digits are needed behind \u`,
		`{"x":"\ud800"}`:              `column 7: malformed JSON: half a character: \ud800 needs its other half`,
		`{"x":"\ud800\u0041"}`:        `column 7: malformed JSON: half a character: \ud800 needs its other half`,
		`{"x":"\udc00"}`:              `column 7: malformed JSON: half a character: \udc00 needs its other half`,
		"{\"x\":\"a\x01\"}":           `column 8: malformed JSON: control character 0x01 in a text: write it as an escape`,
		`{"x":["a"]}`:                 `column 7: malformed JSON: an array may hold numbers and objects only`,
		`{"x":[true]}`:                `column 7: malformed JSON: an array may hold numbers and objects only`,
		`{"x":[[1]]}`:                 `column 7: malformed JSON: an array in an array is no namespace`,
		`{"x":[1 2]}`:                 `column 9: malformed JSON: a comma or ']' is needed`,
		`{"x":[1,]}`:                  `column 9: malformed JSON: a value is needed`,
		`{"_x":[1}`:                   `column 7: malformed JSON: the value that begins here does not end`,
		`{"_label":true}`:             `column 11: malformed JSON: a label is a number, text like "1 0.5" or an object`,
		`{"_label":{"Foo":1}}`:        `column 18: malformed JSON: a label has Label, Weight and Initial, not "Foo"`,
		`{"_label":{"Cost":1}}`:       `column 19: malformed JSON: "Cost" is part of a contextual bandit's label, which a linear learner does not have`,
		`{"_label":{"Label":"NaN"}}`:  `column 20: malformed JSON: Label of a label is a number`,
		`{"_label":{"Label":1 2}}`:    `column 22: malformed JSON: a comma or '}' is needed`,
		`{"_labelx":1}`:               `column 12: malformed JSON: unknown key "_labelx": labels are "_label" and "_label_Weight"`,
		`{"_labelIndex":0}`:           `column 16: malformed JSON: "_labelIndex" belongs to an example of several actions, which a linear learner does not have`,
		`{"_multi":[]}`:               `column 11: malformed JSON: "_multi" belongs to an example of several actions, which a linear learner does not have`,
		`{"_tag":5}`:                  `column 9: malformed JSON: a tag is text`,
		`{"_text":5}`:                 `column 10: malformed JSON: "_text" is text`,
		strings.Repeat(`{"a":`, 1001): `column 5002: malformed JSON: more than 1000 objects and arrays in each other`,
	} {
		p := parser(t, feature.Config{Bits: 18})
		var got feature.Batch
		before := []byte(`{"_tag":"t","a":{"x":1},"y":"z"}`)
		if err := p.AppendLine(&got, before, 1); err != nil {
			t.Fatal(err)
		}
		want := want
		err := p.AppendLine(&got, []byte(line), 2)
		if m, ok := errors.AsType[*feature.MalformedError](err); !ok || m.Line != 2 || err.Error() != want {
			t.Errorf("%.40s:\ngot  %v\nwant %s", line, err, want)
		}
		// The parser still works.
		if err := p.AppendLine(&got, before, 3); err != nil {
			t.Fatal(err)
		}
		var fresh feature.Batch
		for range 2 {
			if err := parser(t, feature.Config{Bits: 18}).AppendLine(&fresh, before, 1); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(&fresh, &got); diff != "" {
			t.Errorf("%.40s: after the error (-want +got):\n%s", line, diff)
		}
	}
}

func TestNegativeWeights(t *testing.T) {
	const want = "invalid importance weight (-3); importance weights must be non-negative"
	for _, line := range []string{`{"_label":"1 -3"}`, `{"_label":{"Label":1,"Weight":-3}}`, `{"_label_weight":-3}`} {
		var b feature.Batch
		if err := parser(t, feature.Config{Bits: 18}).AppendLine(&b, []byte(line), 1); err != nil {
			t.Fatal(err)
		}
		if len(b.Warnings) != 1 || !strings.HasPrefix(b.Warnings[0].Text, want) || b.Examples[0].Weight != -3 {
			t.Errorf("%s: %+v", line, b)
		}
		err := parser(t, feature.Config{Bits: 18, Strict: true}).AppendLine(&b, []byte(line), 1)
		if err == nil || err.Error() != want {
			t.Errorf("%s: strict: %v", line, err)
		}
	}
}

// TestSameExamplesAsText: an example written as JSON and as vw's text, where
// text values are seeded by their names, gives the same batch.
func TestSameExamplesAsText(t *testing.T) {
	name := rapid.StringMatching(`[a-zA-Zäß漢][a-zA-Z0-9^é.,]{0,9}|[0-9]{1,9}`)
	rapid.Check(t, func(rt *rapid.T) {
		cfg := feature.Config{
			Bits:         uint(rapid.IntRange(1, 31).Draw(rt, "bits")),
			ChainHash:    true,
			NoConstant:   rapid.Bool().Draw(rt, "noconstant"),
			Interactions: rapid.SampledFrom([][]string{nil, {"ab"}, {"::"}}).Draw(rt, "interactions"),
		}
		quote := func(s string) string {
			b, err := stdjson.Marshal(s)
			if err != nil {
				rt.Fatal(err)
			}
			if rapid.Bool().Draw(rt, "ascii") {
				return strconv.QuoteToASCII(s)
			}
			return string(b)
		}
		features := func(label string) (text, object string) {
			var members []string
			for i := range rapid.IntRange(0, 4).Draw(rt, label) {
				n := name.Draw(rt, fmt.Sprint(label, i))
				switch rapid.IntRange(0, 2).Draw(rt, "kind") {
				case 0:
					v := rapid.Float32Range(-1e6, 1e6).Draw(rt, "value")
					if math.Abs(float64(v)) < 1e-6 {
						v = 0
					}
					s := strconv.FormatFloat(float64(v), 'f', 3, 32)
					x, _ := feature.ParseFloat([]byte(s))
					if y, _ := strconv.ParseFloat(s, 32); x != float32(y) {
						s = "0.5" // the two read long decimals differently, as in vw
					}
					text += " " + n + ":" + s
					members = append(members, quote(n)+":"+s)
				case 1:
					text += " " + n
					members = append(members, quote(n)+":true")
				default:
					v := rapid.StringMatching(`[a-z][a-z_]{0,5}`).Draw(rt, "text")
					if _, k := feature.ParseFloat([]byte(v)); k > 0 {
						v = "blue" // "nan" and "inf" are numbers in text
					}
					text += " " + n + ":" + v
					members = append(members, quote(n)+":"+quote(v))
				}
			}
			return text, strings.Join(members, ",")
		}
		text, object := "", "{"
		if rapid.Bool().Draw(rt, "labeled") {
			l := rapid.SampledFrom([]string{"1", "-1 0.5", "0.25 2 -0.5"}).Draw(rt, "label")
			text, object = l, object+`"_label":"`+l+`",`
		}
		text, object = text+" 'tag ", object+`"_tag":"tag"`
		for i := range rapid.IntRange(0, 4).Draw(rt, "namespaces") {
			ns := name.Draw(rt, fmt.Sprint("ns", i))
			t, o := features("features")
			text, object = text+"|"+ns+t+" ", object+","+quote(ns)+":{"+o+"}"
		}
		t, o := features("default")
		text += "|" + t
		if o != "" {
			object += "," + o
		}
		object += "}"

		var want, got feature.Batch
		p, err := feature.NewParser(cfg)
		if err != nil {
			rt.Fatal(err)
		}
		if err := p.AppendLine(&want, []byte(text), 1); err != nil {
			rt.Fatal(err)
		}
		j, err := json.NewParser(cfg)
		if err != nil {
			rt.Fatal(err)
		}
		if err := j.AppendLine(&got, []byte(object), 1); err != nil {
			rt.Fatalf("%s: %v", object, err)
		}
		if diff := cmp.Diff(&want, &got, cmpopts.EquateEmpty()); diff != "" {
			rt.Errorf("%s\n%s\n(-text +json):\n%s", text, object, diff)
		}
	})
}

// TestNamesAreThoseOfVW: as vw 9.11.9 --json --audit shows them.
func TestNamesAreThoseOfVW(t *testing.T) {
	line := []byte(`{"a":{"x":2,"s":"blue","q\u0041r":{"y":1},"\u0041":4},"arr":[1,0,3],"z":1,"t":"v w","":3,"b":true}`)
	for want, chain := range map[string]bool{
		"qAr^y a^x a^sblue a^A arr^[0] arr^[2] z tv_w  b":   false,
		"qAr^y a^x a^s^blue a^A arr^[0] arr^[2] z t^v_w  b": true,
	} {
		var b feature.Batch
		if err := parser(t, feature.Config{Bits: 18, ChainHash: chain, Names: true, NoConstant: true}).AppendLine(&b, line, 1); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, n := range b.Names {
			got = append(got, string(b.NameText[n.Lo:n.Hi]))
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("chain_hash %t (-vw +gvw):\n%s", chain, diff)
		}
	}
}

func TestNothingIsAllocatedPerExample(t *testing.T) {
	p := parser(t, feature.Config{Bits: 18})
	all := lines(t)
	var b feature.Batch
	round := func() {
		b.Reset()
		for i, line := range all {
			if string(line) == `{"_label":"abc","x":1}` || string(line) == `{"_label":"2 0.5 0.25 9","x":1}` {
				continue // a warning is text
			}
			if err := p.AppendLine(&b, line, int64(i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := testing.AllocsPerRun(10, round); n != 0 {
		t.Errorf("%v allocations for %d lines", n, len(all))
	}
	featuretest.HoldsTogether(t, &b, feature.Config{Bits: 18})
}

func BenchmarkAppendLine(b *testing.B) {
	line := []byte(`{"_label":1,"_tag":"id-17","s":{"user":"bob","city":"paris","premium":true},"n":{"f1":0.125,"f2":12.5,"f3":3,"f4":-7.25,"f5":100}}`)
	p := parser(b, feature.Config{Bits: 18})
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
