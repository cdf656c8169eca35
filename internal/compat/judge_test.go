// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// given parses options such as "l1=0.5 quiet".
func given(line string) Given {
	values := map[string][]string{}
	for word := range strings.FieldsSeq(line) {
		name, value, found := strings.Cut(word, "=")
		if !found {
			value = "true"
		}
		values[name] = append(values[name], value)
	}
	return func(option string) []string { return values[option] }
}

func TestJudge(t *testing.T) {
	cases := []Case{
		{Options: "mem hessian_on", Without: "bfgs hybrid", Class: Silent},
		{Options: "l1", With: "bfgs|ftrl", Class: Noted, Text: "first"},
		{Options: "l1", Value: `-.*`, Class: Noted, Text: "second"},
		{Options: "scores", With: "oaa probabilities", Class: Silent},
		{Options: "oaa_subsample", With: "oaa_subsample>=oaa", Class: Silent},
		{Options: "min", With: "min>max", Class: Refused},
		{Options: "mask", With: "init mask!=init", Class: Noted},
		{Options: "tau", Without: "loss=quantile", Class: Refused},
		{Options: "total", Value: "1", Without: "server", Class: Silent},
	}
	for _, c := range []struct {
		line  string
		loads bool
		want  []string
	}{
		{"quiet", false, nil},
		{"mem=3", false, []string{"--mem without --bfgs or --hybrid"}},
		{"mem=3 hessian_on", false, []string{"--mem without --bfgs or --hybrid", "--hessian_on without --bfgs or --hybrid"}},
		{"mem=3 hybrid=1:2", false, nil},
		{"mem=3", true, nil}, // the model may bring --bfgs
		{"l1=1 ftrl", true, []string{"--l1 with --ftrl"}},
		{"l1=-1 ftrl", false, []string{"--l1 with --ftrl"}}, // one note of an option
		{"l1=-1", false, []string{"--l1 -1"}},
		{"scores oaa=3", false, nil},
		{"scores oaa=3 probabilities", false, []string{"--scores with --oaa --probabilities"}},
		{"oaa_subsample=3 oaa=3", false, []string{"--oaa_subsample"}},
		{"oaa_subsample=2 oaa=3", false, nil},
		{"oaa_subsample=2", false, nil},
		{"min=-0.5 max=-1", false, []string{"--min"}},
		{"min=1 max=1", false, nil},
		{"mask=a init=b", false, []string{"--mask with --init"}},
		{"mask=a init=a", false, nil},
		{"tau=0.3", false, []string{"--tau without --loss quantile"}},
		{"tau=0.3 loss=hinge", true, []string{"--tau without --loss quantile"}},
		{"tau=0.3 loss=quantile", false, nil},
		{"total=1", false, []string{"--total 1"}},
		{"total=10", false, nil},
	} {
		var got []string
		for _, f := range Judge(cases, given(c.line), c.loads) {
			got = append(got, f.Shown)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s, loads %v (-want +got):\n%s", c.line, c.loads, diff)
		}
	}
}

// The options of a case have the class Works; its conditions may also name options that only gvw
// has.
func TestCasesAreSound(t *testing.T) {
	own := []string{"hybrid", "shuffle", "spare"}
	for i := range Cases() {
		c := &Cases()[i]
		for _, name := range c.Names() {
			if o, ok := Find(name); !slices.Contains(own, name) && (!ok || o.Class != Works) {
				t.Errorf("%s: --%s does not work: its class is that of the option", c.Options, name)
			}
		}
		if _, err := regexp.Compile(c.Value); err != nil {
			t.Error(err)
		}
		if c.Class == Works || c.Class == Later || c.Text == "" {
			t.Errorf("%s: the class is %v, the text %q", c.Options, c.Class, c.Text)
		}
		if c.Value == "" && c.With == "" && c.Without == "" {
			t.Errorf("%s: a case without a condition", c.Options)
		}
	}
}
