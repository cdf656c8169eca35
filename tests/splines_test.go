// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"encoding/json"
	"path/filepath"
	"testing"
)

// TestSplinesOnHiggs repeats the last row of the table of docs/vw-learners.md. The bound is below its
// score, 0.817.
func TestSplinesOnHiggs(t *testing.T) {
	t.Parallel()
	train, test := shared(t, "data", "higgs-mini", "train.vw.gz"), shared(t, "data", "higgs-mini", "test.vw.gz")
	dir := t.TempDir()
	gvw(t, dir, "splines", "-d", train, "-f", "basis", "-p", "train")
	gvw(t, dir, "splines", "-d", test, "-i", "basis", "-p", "test")
	gvw(t, dir, "-d", "train", "--bfgs", "-q", "::", "--l2", "100", "--passes", "40", "-b", "16", "--holdout_off",
		"--loss_function", "logistic", "-f", "model", "--quiet")
	gvw(t, dir, "-d", "test", "-t", "-i", "model", "--loss_function", "logistic", "--quiet", "--metrics", "auc", "--metrics_file", "metrics")
	var got struct{ Metrics map[string]float64 }
	if err := json.Unmarshal([]byte(readFile(t, filepath.Join(dir, "metrics"))), &got); err != nil {
		t.Fatal(err)
	}
	if auc := got.Metrics["auc"]; auc < 0.81 {
		t.Errorf("AUC %v, want 0.81 at least", auc)
	}
}
