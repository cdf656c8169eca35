// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"strings"
	"testing"
)

// Labels of classes as in vw 9.11.9, except that an example whose label cannot be read counts
// as unlabeled, where vw stops.
func TestClassLabels(t *testing.T) {
	names := []string{"dog", "cat"}
	for _, c := range []struct {
		line          string
		names         []string
		label, weight float32
		tag, warning  string
	}{
		{"3 | a", nil, 3, 1, "", ""},
		{"01 | a", nil, 1, 1, "", ""},
		{"0 2.5 | a", nil, 0, 2.5, "", ""},
		{"2 0.5 t5|b q", nil, 2, 0.5, "t5", ""},
		{"2| a", nil, NoLabel, 1, "2", ""},
		{" | a", nil, NoLabel, 1, "", ""},
		{"-1 | a", nil, NoLabel, 1, "", ""},
		{"1 -2 | a", nil, 1, -2, "", "importance weight"},
		{"1.5 | a", nil, NoLabel, 1, "", `"1.5" is not the number of a class`},
		{"dog | a", nil, NoLabel, 1, "", `"dog" is not the number of a class`},
		{"3x | a", nil, NoLabel, 1, "", `"3x" is not the number of a class`},
		{"99999999999999999999 | a", nil, NoLabel, 1, "", "is not the number of a class"},
		{"1 2 3 | a", nil, NoLabel, 1, "", "3 is too many tokens for the label of a class"},
		{"dog | a", names, 1, 1, "", ""},
		{"cat 3 'x|a b", names, 2, 3, "x", ""},
		{"pig | a", names, 0, 1, "", `"pig" is none of the named labels`},
		{"1 | a", names, 0, 1, "", `"1" is none of the named labels`},
	} {
		p, err := NewParser(Config{Bits: 18, Labels: ClassLabels, ClassNames: c.names})
		if err != nil {
			t.Fatal(err)
		}
		var b Batch
		if err := p.AppendLine(&b, []byte(c.line), 1); err != nil {
			t.Fatal(err)
		}
		ex := &b.Examples[0]
		if ex.Label != c.label || ex.Weight != c.weight || string(b.TagOf(ex)) != c.tag {
			t.Errorf("%q: label %v, weight %v, tag %q, want %v, %v, %q", c.line, ex.Label, ex.Weight, b.TagOf(ex), c.label, c.weight, c.tag)
		}
		switch {
		case c.warning == "" && len(b.Warnings) > 0:
			t.Errorf("%q: %s", c.line, b.Warnings[0].Text)
		case c.warning != "" && (len(b.Warnings) == 0 || !strings.Contains(b.Warnings[0].Text, c.warning)):
			t.Errorf("%q: warnings %v, want %q", c.line, b.Warnings, c.warning)
		}
	}
}
