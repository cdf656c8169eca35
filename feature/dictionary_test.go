// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const dictionaryText = "p f1:2 f2\nq\tf3:0.5 12\nalone\n  7 g:1.5 p\np other\nodd |b in_b f9\n\n"

func dictionary(t *testing.T, ns byte, cfg *Config) *Dictionary {
	t.Helper()
	d, err := NewDictionary(ns, []byte(dictionaryText), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A word adds the features of its first line that have no namespace.
func TestDictionaryAddsFeatures(t *testing.T) {
	cfg := Config{Bits: 18, NoConstant: true}
	d := dictionary(t, 'a', &cfg)
	if d.Words() != 3 {
		t.Errorf("%d words, want p, q and 7", d.Words())
	}
	plain := cfg
	cfg.Dictionaries = []*Dictionary{d}
	parse := func(cfg Config, line string) []Feature {
		p, err := NewParser(cfg)
		if err != nil {
			t.Fatal(err)
		}
		var b Batch
		if err := p.AppendLine(&b, []byte(line), 1); err != nil {
			t.Fatal(err)
		}
		return b.Features
	}
	for line, added := range map[string]string{
		"|a p:3":        "| f1:2 f2",
		"|a q x 7":      "| f3:0.5 12 g:1.5 p",
		"|a p:0 odd":    "",
		"| p|b p":       "",
		"|b x|a p|c y":  "| f1:2 f2",
		"|a p p":        "| f1:2 f2 f1:2 f2",
		"|a alone none": "",
	} {
		want := parse(plain, line)
		at := strings.Index(line, "|a")
		before := 0
		if at > 0 {
			before = len(parse(plain, line[:at]))
		}
		if added != "" { // before the namespace that has the words
			want = append(append(append([]Feature{}, want[:before]...), parse(plain, added)...), want[before:]...)
		}
		if diff := cmp.Diff(want, parse(cfg, line)); diff != "" {
			t.Errorf("%q: -want +got:\n%s", line, diff)
		}
	}
}

// A cache that was made with another dictionary is not taken.
func TestDictionaryIsPartOfTheShape(t *testing.T) {
	cfg := Config{Bits: 18}
	one := dictionary(t, 'a', &cfg)
	other, err := NewDictionary('a', []byte(dictionaryText+"more x\n"), &cfg)
	if err != nil {
		t.Fatal(err)
	}
	if one.String() == other.String() || one.String() == dictionary(t, 'b', &cfg).String() {
		t.Errorf("dictionaries of other text or namespace are all %s", one)
	}
}

func TestDictionaryLookUpDoesNotAllocate(t *testing.T) {
	cfg := Config{Bits: 18, SortFeatures: true}
	cfg.Dictionaries = []*Dictionary{dictionary(t, 'a', &cfg)}
	p, err := NewParser(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var b Batch
	line := []byte("1 |a p q r 7:2 p|b x y")
	if n := testing.AllocsPerRun(100, func() {
		b.Reset()
		if err := p.AppendLine(&b, line, 1); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a line", n)
	}
}
