// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gvw-project/gvw/internal/sampled"
)

// sklearn measures raw predictions (from the file named first) against the
// labels of a vw file: one JSON object.
const sklearn = `
import gzip, json, sys
import numpy as np
from sklearn import metrics
from sklearn.calibration import calibration_curve
score = np.loadtxt(sys.argv[1], usecols=0)
label = np.array([float(l.split(b" ", 1)[0]) for l in gzip.open(sys.argv[2])])
y, p = label > 0, 1 / (1 + np.exp(-score))
weight = np.bincount(np.searchsorted(np.linspace(0, 1, 11)[1:-1], p), minlength=10)
share, mean = calibration_curve(y, p, n_bins=10)
print(json.dumps({
    "logloss": metrics.log_loss(y, p),
    "accuracy": metrics.accuracy_score(y, score > 0),
    "auc": metrics.roc_auc_score(y, score),
    "auprc": metrics.average_precision_score(y, score),
    "rmse": metrics.root_mean_squared_error(label, score),
    "calibration": float(np.sum(weight[weight > 0] * np.abs(share - mean)) / len(y)),
}))
`

// TestMetricsAreScikitLearns measures real sets on three ranks and has
// scikit-learn measure the same predictions.
func TestMetricsAreScikitLearns(t *testing.T) {
	t.Parallel()
	python := learnedPython(t)
	for _, set := range sampled.Short(t, []string{"a9a", "rcv1-mini", "w8a", "cocoa-text", "higgs-mini"}, 0, 5) {
		t.Run(set, func(t *testing.T) {
			t.Parallel()
			data := shared(t, "data", set, "train.vw.gz")
			test := shared(t, "data", set, "test.vw.gz")
			dir := t.TempDir()
			gvw(t, dir, "-d", data, "-f", "model", "--loss_function", "logistic", "--quiet")
			gvw(t, dir, "run", "-n", "3", "--log_dir", "logs", "--", "-d", test, "-t", "-i", "model", "--loss_function", "logistic",
				"-r", "raw", "--quiet", "--metrics", "logloss,accuracy,auc,auprc,rmse,calibration", "--metrics_file", "metrics")
			compareMeasures(t, dir, python, sklearn, "raw", test)
		})
	}
}

// sklearnClasses measures probabilities of all classes (from the file named first)
// against the labels of a vw file.
const sklearnClasses = `
import gzip, json, sys
import numpy as np
from sklearn import metrics
p = np.array([[float(v.split(":")[1]) for v in l.split() if ":" in v] for l in open(sys.argv[1])])
label = np.array([int(l.split(b" ", 1)[0]) for l in gzip.open(sys.argv[2])])
print(json.dumps({
    "logloss": metrics.log_loss(label, p, labels=range(1, p.shape[1] + 1)),
    "accuracy": metrics.accuracy_score(label, 1 + p.argmax(axis=1)),
}))
`

// TestClassMetricsAreScikitLearns is the same for one against all.
func TestClassMetricsAreScikitLearns(t *testing.T) {
	t.Parallel()
	python := learnedPython(t)
	for _, set := range sampled.Short(t, []string{"dna", "20news", "fashion-mini"}, 0, 3) {
		k := map[string]string{"20news": "20", "fashion-mini": "10", "dna": "3"}[set]
		t.Run(set, func(t *testing.T) {
			t.Parallel()
			data := shared(t, "data", set, "train.vw.gz")
			test := shared(t, "data", set, "test.vw.gz")
			dir := t.TempDir()
			gvw(t, dir, "-d", data, "-f", "model", "--oaa", k, "--loss_function", "logistic", "--quiet")
			gvw(t, dir, "run", "-n", "3", "--log_dir", "logs", "--", "-d", test, "-t", "-i", "model", "--loss_function", "logistic", "--probabilities",
				"-p", "probabilities", "--quiet", "--metrics", "logloss,accuracy", "--metrics_file", "metrics")
			compareMeasures(t, dir, python, sklearnClasses, "probabilities", test)
		})
	}
}

// compareMeasures runs the script on the arguments and compares the measures that
// it prints with those in the file metrics.
func compareMeasures(t *testing.T, dir, python, script string, args ...string) {
	t.Helper()
	var got struct{ Metrics map[string]float64 }
	if err := json.Unmarshal([]byte(readFile(t, filepath.Join(dir, "metrics"))), &got); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, append([]string{"-c", script}, args...)...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("scikit-learn: %v", err)
	}
	var want map[string]float64
	if err := json.Unmarshal(out, &want); err != nil {
		t.Fatal(err)
	}
	if len(want) == 0 {
		t.Fatalf("scikit-learn measures nothing: %s", out)
	}
	for name, w := range want {
		g, ok := got.Metrics[name]
		if !ok || !(math.Abs(g-w) <= 1e-3) {
			t.Errorf("%s: %v, scikit-learn says %v", name, g, w)
		}
	}
	t.Logf("%v", got.Metrics)
}

// learnedPython returns a Python that has scikit-learn, or the test is skipped.
func learnedPython(t *testing.T) string {
	t.Helper()
	python := realVW(t)[0]
	out, err := exec.CommandContext(t.Context(), python, "-c", "import sklearn").CombinedOutput()
	if err != nil {
		const need = "needs scikit-learn in the python of GVW_VW_PYTHON (make test sets one up)"
		if os.Getenv("REQUIRE_ALL") == "1" {
			t.Fatalf("REQUIRE_ALL=1: %s: %s", need, out)
		}
		t.Skip(need)
	}
	return python
}
