// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
)

func TestSVMIsDeterministicAndContinues(t *testing.T) {
	data := written(t, "1 | a b c", "-1 | d e", "1 | a d", "-1 | e f", "1 | b", "-1 | f d")
	model := filepath.Join(t.TempDir(), "m")
	succeed(t, "svm", "-d", data, "-f", model, "--random_seed", "3")
	succeed(t, "svm", "-d", data, "-f", model+"2", "--random_seed", "3")
	if !bytes.Equal(read(t, model), read(t, model+"2")) {
		t.Error("the same seed gave different models")
	}
	succeed(t, "svm", "-d", data, "-i", model, "-f", model+"3", "--passes", "1")
	if got := measured(t, "accuracy", "svm", model+"3", data); got != 1 {
		t.Errorf("accuracy after one more pass: got %v, want 1", got)
	}
}

// linear returns the lines of examples of a linear rule over ten features.
func linear(seed uint64, n int) (lines []string) {
	r := rand.New(rand.NewPCG(seed, 1))
	for range n {
		sum, words := 0.0, strings.Builder{}
		for i := range 10 {
			x := r.NormFloat64()
			sum += x * float64(i-4)
			fmt.Fprintf(&words, " f%d:%.4f", i, x)
		}
		label := 1
		if sum < 0 {
			label = -1
		}
		lines = append(lines, fmt.Sprintf("%d |%s", label, words.String()))
	}
	return lines
}

// Compression and the outer optimiser change the model, and it stays a good one. With bsp the same options give the same
// bytes.
func TestSVMOnSeveralRanks(t *testing.T) {
	data, test := written(t, linear(1, 1000)...), written(t, linear(2, 500)...)
	model := filepath.Join(t.TempDir(), "m")
	var models [][]byte
	for _, how := range []string{"", "", "--malt_compress f16", "--malt_compress q8", "--outer_rate 0.7 --outer_momentum 0.5"} {
		parallel(t, 3, append([]string{
			"svm", "-d", data, "-f", model, "-b", "10", "--cb_size", "20", "--malt", "all", "--sync", "bsp",
		}, strings.Fields(how)...)...)
		if got := measured(t, "accuracy", "svm", model, test); got < 0.95 {
			t.Errorf("accuracy of 3 ranks, %q: got %v, want 0.95", how, got)
		}
		models = append(models, read(t, model))
	}
	for i := range models {
		if i == 1 != bytes.Equal(models[0], models[i]) && i > 0 {
			t.Errorf("models 0 and %d: equal is %v", i, i != 1)
		}
	}
}

// The reference is liblinear's L2-regularised logistic regression: accuracy 0.876, AUC 0.952.
func TestSVMOnText(t *testing.T) {
	train, test := dataSet(t, "rcv1-mini")
	model := filepath.Join(t.TempDir(), "m")
	succeed(t, "svm", "-d", train, "-f", model, "--average", "--passes", "20")
	if got := measured(t, "accuracy", "svm", model, test); got < 0.86 {
		t.Errorf("serial accuracy: got %v, want 0.86", got)
	}
	for _, how := range [][2]string{{"all", "bsp"}, {"halton", "asp"}, {"one_peer", "ssp:2"}, {"ring", "notify_ack"}} {
		parallel(t, 4, "svm", "-d", train, "-f", model, "-b", "15", "--average", "--passes", "20", "--cb_size", "50", "--malt", how[0], "--sync", how[1])
		if got := measured(t, "auc", "svm", model, test); got < 0.93 {
			t.Errorf("AUC of 4 ranks, %s, %s: got %v, want 0.93", how[0], how[1], got)
		}
	}
}
