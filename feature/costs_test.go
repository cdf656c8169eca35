// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Costs of classes and lists of classes as in vw 9.11.9, except that what is no number of a class is left out.
func TestLabelsOfSeveralClasses(t *testing.T) {
	for _, c := range []struct {
		kind         LabelKind
		line         string
		want         []Cost
		labeled      bool
		tag, warning string
	}{
		{CostLabels, "1:0.5 3:2 'x|a b", []Cost{{1, 0.5}, {3, 2}}, true, "x", ""},
		{CostLabels, "2:0 1:-1.5 4 0:7 5:1 |a b", []Cost{{2, 0}, {1, -1.5}, {4, NoLabel}, {0, 7}, {5, 1}}, true, "", ""},
		{CostLabels, "1 2 |a b", []Cost{{1, NoLabel}, {2, NoLabel}}, false, "", ""},
		{CostLabels, "1:2 3:0|a b", []Cost{{1, 2}}, true, "3:0", ""},
		{CostLabels, "|a b", nil, false, "", ""},
		{CostLabels, "1:x |a b", []Cost{{1, 0}}, true, "", `"1:x" is not a good cost, replacing with 0`},
		{CostLabels, "1:nan |a b", []Cost{{1, 0}}, true, "", `"1:nan" is not a good cost, replacing with 0`},
		{CostLabels, "1:2:3 |a b", []Cost{{1, 2}}, true, "", `"1:2:3" is not a good cost; the number before it counts`},
		{CostLabels, "dog:1 2:3 |a b", []Cost{{2, 3}}, true, "", `"dog" is not the number of a class; it is left out`},
		{CostLabels, "shared |a b", nil, false, "", `"shared" is not the number of a class`},
		{MultiLabels, "1,3,7 'x|a b", []Cost{{1, 0}, {3, 0}, {7, 0}}, true, "x", ""},
		{MultiLabels, "0 |a b", []Cost{{0, 0}}, true, "", ""},
		{MultiLabels, "|a b", nil, false, "", ""},
		{MultiLabels, "1,,2, |a b", []Cost{{1, 0}, {2, 0}}, true, "", ""},
		{MultiLabels, "1,x |a b", []Cost{{1, 0}}, true, "", `"x" is not the number of a class; it is left out`},
		{MultiLabels, "1 2 |a b", nil, false, "", "2 is too many tokens for a list of classes"},
		{MultiLabels, "3,1 |a b", []Cost{{3, 0}, {1, 0}}, true, "", `classes "3,1" do not ascend`},
	} {
		p, err := NewParser(Config{Bits: 18, Labels: c.kind})
		if err != nil {
			t.Fatal(err)
		}
		var b Batch
		for range 2 { // the second one is not at the beginning of the batch
			if err := p.AppendLine(&b, []byte(c.line), 1); err != nil {
				t.Fatal(err)
			}
		}
		ex := &b.Examples[1]
		if diff := cmp.Diff(c.want, append([]Cost(nil), b.CostsOf(ex)...)); diff != "" || ex.Labeled() != c.labeled || string(b.TagOf(ex)) != c.tag {
			t.Errorf("%q: labeled %t, tag %q; classes (-want +got):\n%s", c.line, ex.Labeled(), b.TagOf(ex), diff)
		}
		switch {
		case c.warning == "" && len(b.Warnings) > 0:
			t.Errorf("%q: %s", c.line, b.Warnings[0].Text)
		case c.warning != "" && (len(b.Warnings) == 0 || !strings.Contains(b.Warnings[0].Text, c.warning)):
			t.Errorf("%q: warnings %v, want %q", c.line, b.Warnings, c.warning)
		}
	}
}

// A malformed line leaves nothing behind in strict mode.
func TestStrictLabelsOfSeveralClasses(t *testing.T) {
	p, err := NewParser(Config{Bits: 18, Labels: CostLabels, Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	var b Batch
	if err := p.AppendLine(&b, []byte("1:2 x:1 |a b"), 1); err == nil || len(b.Costs)+len(b.Features)+len(b.Examples) > 0 {
		t.Errorf("error %v, batch %+v", err, b)
	}
}

func TestLabelsOfSeveralClassesAllocateNothing(t *testing.T) {
	for kind, line := range map[LabelKind]string{CostLabels: "1:0.5 2:0 3:1 |a b c", MultiLabels: "1,2,5 |a b c"} {
		p, err := NewParser(Config{Bits: 18, Labels: kind, Interactions: []string{"aa"}})
		if err != nil {
			t.Fatal(err)
		}
		var b Batch
		text := []byte(line)
		if n := testing.AllocsPerRun(100, func() {
			b.Reset()
			if err := p.AppendLine(&b, text, 1); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%q: %v allocations", line, n)
		}
	}
}
