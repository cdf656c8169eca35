// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/internal/sampled"
)

// TestSVRGAsVW draws options beside --svrg, and compares predictions, weights and the use of each
// other's models with the real vw. Lines without a label end the data: vw begins a pass when its
// parser has read the last line, and up to 256 lines wait for the learner then.
func TestSVRGAsVW(t *testing.T) {
	t.Parallel()
	vw := realVW(t)
	for _, seed := range sampled.Short(t, []uint64{0, 1, 2, 3, 4, 5}, 0, 3) {
		rng := rand.New(rand.NewPCG(seed, 19))
		pick := func(from ...string) string { return from[rng.IntN(len(from))] }
		options := fmt.Sprintf("--svrg --passes %d -k --holdout_off", 2+rng.IntN(5))
		options += pick("", "", " --stage_size 2", " --stage_size 3") + pick("", " --noconstant", " -q ab", " -b 10") +
			pick("", "", " --initial_weight 0.01", " --predict_only_model", " --power_t 0.2 --decay_learning_rate 0.5")
		input, unkept := "reg500.vw", ""
		if rng.IntN(2) == 0 {
			options += pick(" -l 0.01", " -l 0.003")
		} else {
			input, unkept = "s1000.vw", "--loss_function logistic"
			options += pick(" -l 0.02", " -l 0.1 --link logistic") + " " + unkept
		}
		t.Run(options, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			text := readFile(t, filepath.Join("testdata", "golden", input+".gz"))
			writeFile(t, filepath.Join(dir, "data"), text+strings.Repeat("| q:0.1\n", 300))
			read := func(name string) string { return readFile(t, filepath.Join(dir, name)) }
			with := func(what, more string) []string {
				return strings.Fields("-d data -f " + what + " -p " + what + ".p --readable_model " + what + ".rm --cache_file " + what + ".cache " + more)
			}
			gvw(t, dir, with("ours", options)...)
			realRun(t, dir, vw, with("theirs", options)...)
			comparePredictionsTo(t, read("ours.p"), read("theirs.p"), tolComposed)
			compareWeights(t, read("ours.rm"), read("theirs.rm"))

			// Training goes on from the weights, with a new stage.
			again := func(from string) string { return "-i " + from + " --passes 3 -k --holdout_off -l 0.002 " + unkept }
			gvw(t, dir, with("theirs+ours", again("theirs"))...)
			realRun(t, dir, vw, with("ours+theirs", again("ours"))...)
			comparePredictionsTo(t, read("theirs+ours.p"), read("ours+theirs.p"), 1e-3)
		})
	}
}
