// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim/ftrl"
)

// A test of classes that writes the model keeps all that further training by the rule needs, and predicts as a test
// that writes none.
func TestATestOfClassesKeepsTheStateOfItsRule(t *testing.T) {
	lines := strings.SplitAfter(classText(300), "\n")
	for _, rule := range []ftrl.Rule{ftrl.Proximal, ftrl.Pistol, ftrl.Coin, ftrl.FreeGrad} {
		t.Run(rule.String(), func(t *testing.T) {
			var out files
			run := func(text string, change func(*Config)) {
				c := Config{Data: DataConfig{Inputs: []Input{textInput("d", text)}}, Features: FeatureConfig{Bits: 10}}
				c.Output.Create = out.create
				change(&c)
				if _, err := Run(t.Context(), c); err != nil {
					t.Fatal(err)
				}
			}
			read := func(name string) *model.Regressor {
				reg, err := model.Read(bytes.NewReader(out.m[name]), model.Limits{Bits: 20})
				if err != nil {
					t.Fatal(err)
				}
				return reg
			}
			run(strings.Join(lines[:200], ""), func(c *Config) { c.FTRL.Rule, c.OAA.Classes, c.Model.Final = rule, 4, "x" })
			for _, final := range []string{"", "y"} {
				run(strings.Join(lines[200:], ""), func(c *Config) {
					c.Features.Bits = 0
					c.TestOnly, c.Model.Initial, c.Model.Open = true, "x", out.open
					c.Model.Final, c.Output.Predictions = final, "p"+final
				})
			}
			if string(out.m["p"]) != string(out.m["py"]) || len(out.m["p"]) == 0 {
				t.Error("the predictions differ from those of a test without a model file")
			}
			want, got := read("x"), read("y")
			if diff := cmp.Diff(want.Weights, got.Weights, cmpopts.EquateNaNs()); diff != "" {
				t.Errorf("weights and their sums:\n%.2000s", diff)
			}
			if diff := cmp.Diff(want.Options, got.Options); diff != "" {
				t.Errorf("options:\n%s", diff)
			}
			if want.Resume == nil || got.Resume == nil {
				t.Fatalf("state: got %v, want %v", got.Resume, want.Resume)
			}
			sums := func(r *model.Resume) [3]float64 {
				return [3]float64{r.NormNormalizer, r.TotalWeight, float64(r.InitialT)}
			}
			if sums(got.Resume) != sums(want.Resume) {
				t.Errorf("sums: got %v, want %v", sums(got.Resume), sums(want.Resume))
			}
		})
	}
}
