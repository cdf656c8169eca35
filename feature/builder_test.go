// SPDX-License-Identifier: Apache-2.0

package feature_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/feature"
)

// TestStrictRefusesWhatVWRefuses: as in vw 9.11.9 with --strict_parse, an invalid number in the
// label, and a label with too many words, remain warnings.
func TestStrictRefusesWhatVWRefuses(t *testing.T) {
	for line, want := range map[string]string{
		"1 2 .5 'tag |a:2 x:3 s:blue": "",
		"1 2 3 4 | a":                 "",
		"abc | a":                     "",
		"1 nan | a":                   "",
		"1 -2 | a":                    "invalid importance weight (-2); importance weights must be non-negative",
		"| x:nan y":                   `invalid feature value "nan" read as NaN`,
		"|a:nan x":                    `invalid namespace value "nan" read as NaN`,
		"|a:2":                        `malformed example! Float expected after : "|a:"`,
		"1 |:3 x":                     `malformed example! '|',String,space, or EOL expected after : "|"`,
		"| x:1:2 y":                   `malformed example! '|',space, or EOL expected after : "| x:1"`,
		"|a:x y":                      `malformed example! '|',space, or EOL expected after : "|a:"`,
	} {
		p, err := feature.NewParser(feature.Config{Bits: 18, Strict: true})
		if err != nil {
			t.Fatal(err)
		}
		lenient := parse(t, feature.Config{Bits: 18}, "|a before", line)
		var b feature.Batch
		appendLine(t, p, &b, []byte("|a before"))
		err = p.AppendLine(&b, []byte(line), 2)
		if want != "" {
			if diff := cmp.Diff(&feature.MalformedError{Line: 2, Text: want}, err); diff != "" {
				t.Errorf("%q (-want +got):\n%s", line, diff)
			}
			lenient = parse(t, feature.Config{Bits: 18}, "|a before")
		} else if err != nil {
			t.Errorf("%q: %v", line, err)
		}
		if diff := cmp.Diff(lenient, &b, emptyIsNil); diff != "" {
			t.Errorf("%q (-lenient +strict):\n%s", line, diff)
		}
	}
}

// TestBuilderKeepsTheOrderOfTheList: features come in the order of the
// namespaces in the list, whatever the order in which they were entered.
func TestBuilderKeepsTheOrderOfTheList(t *testing.T) {
	b, err := feature.NewBuilder(feature.Config{Bits: 18, NoConstant: true})
	if err != nil {
		t.Fatal(err)
	}
	var got feature.Batch
	for n := range int64(2) {
		a, c := b.Namespace([]byte("a")), b.Namespace([]byte("c"))
		b.Begin(&got, n)
		b.Label([]byte("1 0.5"))
		b.Tag([]byte("tag"))
		b.Enter(b.Default())
		b.Feature([]byte("first"), 1)
		b.Enter(a)
		b.Feature([]byte("x"), 2)
		b.Enter(c)
		b.TextFeature([]byte("color"), []byte("red"))
		b.List('c')
		b.Enter(a)
		b.Feature([]byte("y"), 3)
		b.Feature([]byte("nothing"), 0)
		b.List('a')
		b.List('c')
		b.Enter(b.Default())
		b.Feature([]byte("last"), 4)
		b.List(' ')
		if n == 0 {
			b.Cancel()
		} else if err := b.End(); err != nil {
			t.Fatal(err)
		}
	}
	want := parse(t, feature.Config{Bits: 18, NoConstant: true}, "1 0.5 tag|c color:red |a x:2 y:3 | first last:4")
	if diff := cmp.Diff(want, &got, emptyIsNil); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
