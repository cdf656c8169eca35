// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestFTRLAsVW compares the FTRL family with the real vw: predictions while
// learning, table, sums, each program's predictions from the other's model, and
// training that continues from it.
func TestFTRLAsVW(t *testing.T) {
	t.Parallel()
	vw := realVW(t)
	type ftrlCase struct{ input, options, unkept string }
	algorithm := func(c ftrlCase) string { return strings.Fields(c.options)[0] }
	for _, c := range oneOfEach(t, []ftrlCase{
		{"reg500.vw", "--ftrl", ""},
		{"reg500.vw", "--ftrl --l1 0.5 --l2 0.1", ""},
		{"reg500.vw", "--ftrl --ftrl_alpha 0.05 --ftrl_beta 2 -q ab -b 12", ""},
		{"reg500.vw", "--ftrl --passes 4 -k --cache_file CACHE", ""},
		{"s1000.vw", "--ftrl --loss_function logistic --l1 0.1", "--loss_function logistic"},
		{"reg500.vw", "--pistol", ""},
		{"reg500.vw", "--pistol --ftrl_alpha 2 --ftrl_beta 0.3", ""},
		{"s1000.vw", "--pistol --loss_function logistic --link logistic", "--loss_function logistic"},
		{"reg500.vw", "--freegrad", ""},
		{"reg500.vw", "--freegrad --restart -q ab -b 10", "--restart"},
		{"s1000.vw", "--freegrad --project --fepsilon 0.3 --loss_function logistic", "--loss_function logistic --project --fepsilon 0.3"},
		{"reg500.vw", "--freegrad --project --radius 0.4 --flipschitz_const 2", "--project --radius 0.4 --flipschitz_const 2"},
		{"reg500.vw", "--freegrad --passes 3 -k --cache_file CACHE --noconstant", ""},
		{"reg500.vw", "--coin", ""},
		{"reg500.vw", "--coin --ftrl_alpha 2 --ftrl_beta 0.5 --noconstant", ""},
		{"s1000.vw", "--coin --loss_function logistic", "--loss_function logistic"},
		{"reg500.vw", "--coin --passes 2 -k --cache_file CACHE --holdout_off", ""},
	}, algorithm) {
		t.Run(c.options, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, c.input), readFile(t, filepath.Join("testdata", "golden", c.input+".gz")))
			read := func(name string) string { return readFile(t, filepath.Join(dir, name)) }
			with := func(what string) []string {
				return append(strings.Fields("-d "+c.input+" -f "+what+" -p "+what+".p --readable_model "+what+".rm"),
					strings.Fields(strings.ReplaceAll(c.options, "CACHE", what+".cache"))...)
			}
			got := gvw(t, dir, with("ours")...)
			want := realRun(t, dir, vw, with("theirs")...)
			comparePredictionsTo(t, read("ours.p"), read("theirs.p"), tolWeight)
			compareTable(t, got.stderr, want.stderr)
			compareWeights(t, read("ours.rm"), read("theirs.rm"))
			for _, line := range []string{"options:", "norm normalizer ", "total_weight "} {
				if g, w := lineWith(read("ours.rm"), line), lineWith(read("theirs.rm"), line); g != w {
					t.Errorf("got %q, want %q", g, w)
				}
			}

			use := func(model, out, how string, run func(args ...string)) string {
				run(append(strings.Fields(how+" --quiet -d "+c.input+" -i "+model+" -p "+out), strings.Fields(c.unkept)...)...)
				return read(out)
			}
			ours := func(args ...string) { gvw(t, dir, args...) }
			real := func(args ...string) { realRun(t, dir, vw, args...) }
			for _, how := range []string{"-t", ""} { // test; continue training
				want := use("theirs", "tt", how, real)
				comparePredictionsTo(t, use("ours", "ot", how, real), want, tolWeight)
				comparePredictionsTo(t, use("theirs", "tg", how, ours), want, tolWeight)
				comparePredictionsTo(t, use("ours", "og", how, ours), want, tolWeight)
			}
		})
	}
}
