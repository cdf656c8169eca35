// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"bytes"
	"path/filepath"
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
