// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/internal/sampled"
)

// TestScoresOfComposedLearners compares the test losses of composed learners on public sets with those of vw
// 9.11.9 with the same options, after one pass:
//
//	vw -d train.vw.gz OPTIONS -f model --quiet
//	vw -d test.vw.gz -t -i model
//
// A loss may be 0.5 % above vw's. The last row has the settings of docs/vw-learners.md, and its bound is an
// RMSE of 4.12.
func TestScoresOfComposedLearners(t *testing.T) {
	t.Parallel()
	for _, c := range sampled.Short(t, []struct {
		set, options string
		most         float64
	}{
		{"dna", "--csoaa 3", 1.005 * 0.071669},
		{"higgs-mini", "--nn 10 --loss_function logistic", 1.005 * 0.684547},
		{"jester", "--lrq ui7", 1.005 * 18.742936},
		{"jester", "--rank 5 -q ui -b 15 -l 0.02 --power_t 0 --l2 1e-2", 1.005 * 18.025864},
		{"jester", "--rank 10 -q ui -b 15 -l 0.01 --power_t 0 --passes 3 --l2 0.1 --holdout_off", 4.12 * 4.12},
	}, 0, 3) {
		t.Run(c.set+" "+c.options, func(t *testing.T) {
			dir := t.TempDir()
			for _, part := range []string{"train", "test"} {
				text := readFile(t, shared(t, "data", c.set, part+".vw.gz"))
				if strings.Contains(c.options, "--csoaa") {
					text = costs(text, 3)
				}
				writeFile(t, filepath.Join(dir, part), text)
			}
			gvw(t, dir, append(strings.Fields("-d train -f model --quiet"), strings.Fields(c.options)...)...)
			test := strings.Fields("-d test -t -i model")
			if strings.Contains(c.options, "logistic") {
				test = append(test, "--loss_function", "logistic")
			}
			m := averageLoss.FindStringSubmatch(gvw(t, dir, test...).stderr)
			if m == nil {
				t.Fatal("the summary has no average loss")
			}
			loss, err := strconv.ParseFloat(m[1], 64)
			if err != nil || !(loss <= c.most) {
				t.Errorf("loss %v (root %.4f), want %.5f at most", m[1], math.Sqrt(loss), c.most)
			}
		})
	}
}

var averageLoss = regexp.MustCompile(`(?m)^average loss = (\S+)$`)

// costs replaces each label, a class from 1 to k, by a cost of 1 for each other class.
func costs(text string, k int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		label, rest, _ := strings.Cut(line, " ")
		for class := 1; class <= k; class++ {
			cost := 1
			if label == strconv.Itoa(class) {
				cost = 0
			}
			fmt.Fprintf(&b, "%d:%d ", class, cost)
		}
		b.WriteString(rest)
	}
	return b.String()
}
