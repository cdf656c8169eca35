// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRealData trains the hybrid on four ranks over real sets and scores the
// test files. The references are liblinear's, with the constant regularised
// like the rest and λ = 1/C: at the same optimum the scores are the same, so
// log-loss may be 2 % above and AUC 0.003 below.
func TestRealData(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		set, options string
		logLoss, auc float64
	}{
		{"rcv1-mini", "--hybrid 4:40 --l2 0.01", 0.2879, 0.9518},
		{"a9a", "--hybrid 2:40 --l2 1", 0.3241, 0.9022},
		{"w8a", "--hybrid 2:40 --l2 1", 0.0454, 0.9737},
		{"cocoa-text", "--hybrid 4:40 --l2 0.1", 0.1091, 0.9955},
	} {
		t.Run(c.set, func(t *testing.T) {
			train := shared(t, "data", c.set, "train.vw.gz")
			test := shared(t, "data", c.set, "test.vw.gz")
			dir := t.TempDir()
			args := []string{"run", "-n", "4", "--log_dir", "logs", "--", "-d", train, "-f", "model", "--loss_function", "logistic", "-k", "--cache_file", "train.cache"}
			gvw(t, dir, append(args, strings.Fields(c.options)...)...)
			gvw(t, dir, "-d", test, "-t", "-i", "model", "-p", "pred", "--link", "logistic", "--quiet")

			p := numbers(t, readFile(t, filepath.Join(dir, "pred")))
			y := labels(t, readFile(t, test))
			if len(p) != len(y) {
				t.Fatalf("got %d predictions, want %d", len(p), len(y))
			}
			l, a := logLoss(p, y), auc(p, y)
			t.Logf("%s (%s): log-loss %.4f (reference %.4f), AUC %.4f (%.4f)", c.set, c.options, l, c.logLoss, a, c.auc)
			if l > 1.02*c.logLoss {
				t.Errorf("log-loss: got %.4f, want at most 2 %% above %.4f", l, c.logLoss)
			}
			if a < c.auc-0.003 {
				t.Errorf("AUC: got %.4f, want at most 0.003 below %.4f", a, c.auc)
			}
		})
	}
}

// labels returns whether each line's label is positive.
func labels(t *testing.T, text string) []bool {
	t.Helper()
	var y []bool
	for line := range strings.Lines(text) {
		label, _, _ := strings.Cut(line, " ")
		switch label {
		case "1", "+1":
			y = append(y, true)
		case "-1":
			y = append(y, false)
		default:
			t.Fatalf("line %d: label %q is not 1 or -1", len(y)+1, label)
		}
	}
	return y
}

// logLoss returns the mean of -ln of the probability that p gave to the truth.
func logLoss(p []float64, y []bool) float64 {
	const least = 1e-15
	var sum float64
	for i, q := range p {
		if !y[i] {
			q = 1 - q
		}
		sum -= math.Log(max(q, least))
	}
	return sum / float64(len(p))
}

// auc returns the probability that a positive example scores above a negative one, with a tie
// counted as half (the rank sum of Mann and Whitney).
func auc(p []float64, y []bool) float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		}
		return 0
	})
	var positives, negatives, sum float64
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && p[order[j]] == p[order[i]] {
			j++
		}
		rank := float64(i+j+1) / 2 // the mean rank of the tie, from 1
		for _, k := range order[i:j] {
			if y[k] {
				positives++
				sum += rank
			} else {
				negatives++
			}
		}
		i = j
	}
	return (sum - positives*(positives+1)/2) / (positives * negatives)
}
