// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/internal/sampled"
)

// TestModelsGoBothWays trains with one program, and predicts and continues training with the
// other.
func TestModelsGoBothWays(t *testing.T) {
	t.Parallel()
	vw := realVW(t)
	for _, c := range sampled.Short(t, []struct{ name, input, options string }{
		{"default", "reg500.vw", ""},
		{"default, weights only", "reg500.vw", "--predict_only_model"},
		{"plain", "reg500.vw", "--sgd -l 0.1"},
		{"adaptive", "reg500.vw", "--adaptive -l 0.5 --power_t 0.4"},
		{"normalized", "reg500.vw", "--normalized -l 0.5"},
		{"interactions", "reg500.vw", "-q ab -q :: --hash all --hash_seed 5 -b 12"},
		{"link", "s1000.vw", "--loss_function logistic --link logistic --noconstant"},
		{"regularised", "reg500.vw", "--l2 0.001"},
	}, 0, 3) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, c.input), readFile(t, filepath.Join("testdata", "golden", c.input+".gz")))
			options := strings.Fields(c.options)
			unkept := []string{} // options that a model does not keep
			if strings.Contains(c.options, "--loss_function") {
				unkept = []string{"--loss_function", "logistic"}
			}
			if strings.Contains(c.options, "--l2") {
				unkept = []string{"--l2", "0.001"}
			}
			train := append([]string{"-d", c.input}, options...)
			gvw(t, dir, append(train, "-f", "ours", "--quiet")...)
			realRun(t, dir, vw, append(train, "-f", "theirs", "--quiet")...)

			predict := func(model, out string, gvwReads bool) string {
				args := append([]string{"-d", c.input, "-t", "-i", model, "-p", out, "--quiet"}, unkept...)
				if gvwReads {
					gvw(t, dir, args...)
				} else {
					realRun(t, dir, vw, args...)
				}
				return readFile(t, filepath.Join(dir, out))
			}
			want := predict("theirs", "tt", false)
			comparePredictionsTo(t, predict("ours", "ot", false), want, tolWeight)  // vw reads ours
			comparePredictionsTo(t, predict("theirs", "tg", true), want, tolWeight) // we read theirs
			comparePredictionsTo(t, predict("ours", "og", true), want, tolWeight)

			// Each continues from the other's model.
			again := append([]string{"-d", c.input, "--quiet"}, unkept...)
			gvw(t, dir, append(again, "-i", "theirs", "-f", "theirs+ours")...)
			realRun(t, dir, vw, append(again, "-i", "ours", "-f", "ours+theirs")...)
			realRun(t, dir, vw, append(again, "-i", "theirs", "-f", "theirs+theirs")...)
			want = predict("theirs+theirs", "ttt", false)
			comparePredictionsTo(t, predict("theirs+ours", "tot", false), want, 1e-3)
			comparePredictionsTo(t, predict("ours+theirs", "ott", false), want, 1e-3)
		})
	}
}

// realRun runs the real vw and fails the test if it does not succeed.
func realRun(t *testing.T, dir string, vw []string, args ...string) result {
	t.Helper()
	r := run(t, dir, vw[0], append(vw[1:len(vw):len(vw)], args...)...)
	if r.code != 0 {
		t.Fatalf("vw %s: exit code %d\n%s", strings.Join(args, " "), r.code, r.stderr)
	}
	return r
}

// TestHybridIsTwoCalls compares --hybrid P:Q with vw's two commands, from a
// model with resume state and from one without: the same bytes.
func TestHybridIsTwoCalls(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "s.vw"), readFile(t, filepath.Join("testdata", "golden", "s1000.vw.gz")))
	common := strings.Fields("-d s.vw --loss_function logistic --holdout_off --quiet")
	with := func(more string) []string { return append(common[:len(common):len(common)], strings.Fields(more)...) }

	gvw(t, dir, with("--hybrid 2:15 --l2 1 --mem 7 -k --cache_file c0 -f hybrid")...)
	gvw(t, dir, with("--passes 2 -k --cache_file c1 -f first")...)
	gvw(t, dir, with("--bfgs --passes 15 --l2 1 --mem 7 --cache_file c1 -i first -f second")...)
	gvw(t, dir, with("--passes 2 -k --cache_file c2 -f first --predict_only_model")...)
	gvw(t, dir, with("--bfgs --passes 15 --l2 1 --mem 7 --cache_file c2 -i first -f third")...)

	want, err := os.ReadFile(filepath.Join(dir, "hybrid"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"second", "third"} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("the model of --hybrid and %q of vw's two calls differ", name)
		}
	}
}
