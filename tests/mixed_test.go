// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/internal/sampled"
)

// TestMixedJobs lets real vw workers and gvw workers train together through our server, and
// compares with the same job of only vw workers: the models agree to 1e-4.
func TestMixedJobs(t *testing.T) {
	t.Parallel()
	vw := realVW(t)
	text := readFile(t, filepath.Join("testdata", "golden", "s1000.vw.gz"))
	type job struct {
		n    int
		rule string
	}
	var jobs []job
	for _, n := range []int{2, 3, 4, 5} {
		for _, rule := range []string{"", "--sgd -l 0.05", "--adaptive"} {
			jobs = append(jobs, job{n, rule})
		}
	}
	jobs = append(jobs, job{8, ""}) // eight vw processes start slowly
	for _, j := range sampled.Short(t, jobs, 0, 5) {
		t.Run(fmt.Sprintf("n%d%s", j.n, strings.ReplaceAll(j.rule, " ", "")), func(t *testing.T) {
			t.Parallel()
			port := startServer(t)
			dir := t.TempDir()
			parts := shards(t, dir, writeFile(t, filepath.Join(dir, "all.vw"), text), j.n)
			options := append(strings.Fields(j.rule), "--passes", "3", "--loss_function", "logistic", "--holdout_off")

			single := mixed(t, dir, port, 100+j.n, parts, vw, func(int) bool { return true }, options)
			both := mixed(t, dir, port, 200+j.n, parts, vw, func(i int) bool { return i%2 == 0 }, options)
			for i := range both {
				compareModels(t, fmt.Sprintf("rank %d of the mixed job", i), both[i], single[0])
			}
		})
	}
}

// TestMixedBatchJobs does the same with L-BFGS and conjugate gradients, as vw
// has them since 8.2.0.
func TestMixedBatchJobs(t *testing.T) {
	t.Parallel()
	vw := realVW(t)
	text := readFile(t, filepath.Join("testdata", "golden", "s1000.vw.gz"))
	for _, n := range sampled.Short(t, []int{2, 4}, 0, 2) {
		for _, method := range []string{"--bfgs --mem 5", "--conjugate_gradient"} {
			t.Run(fmt.Sprintf("n%d%s", n, strings.ReplaceAll(method, " ", "")), func(t *testing.T) {
				t.Parallel()
				port := startServer(t)
				dir := t.TempDir()
				parts := shards(t, dir, writeFile(t, filepath.Join(dir, "all.vw"), text), n)
				options := append(strings.Fields(method), "--l2", "1", "--passes", "7", "--loss_function", "logistic", "--holdout_off")

				single := mixed(t, dir, port, 100+n, parts, vw, func(int) bool { return true }, options)
				both := mixed(t, dir, port, 200+n, parts, vw, func(i int) bool { return i%2 == 0 }, options, "--bfgs_semantics", "vw9")
				for i := range both {
					compareModels(t, fmt.Sprintf("rank %d of the mixed job", i), both[i], single[0])
				}
			})
		}
	}
}

// mixed runs a job whose ranks are vw where isVW is true and gvw elsewhere, with further
// options for gvw. It returns the readable model of each rank.
func mixed(t *testing.T, dir, port string, id int, parts, vw []string, isVW func(int) bool, options []string, ours ...string) []map[uint32]float64 {
	t.Helper()
	ps := make([]*process, len(parts))
	for i, part := range parts {
		args := append(clusterArgs(port, id, i, len(parts)), "-d", part, "--readable_model", fmt.Sprintf("rm.%d.%d", id, i),
			"-k", "--cache_file", fmt.Sprintf("cache.%d.%d", id, i), "--predict_only_model")
		args = append(args, options...)
		if isVW(i) {
			args = append(vw[1:len(vw):len(vw)], args...)
			ps[i] = start(t, dir, vw[0], args...)
		} else {
			ps[i] = start(t, dir, gvwBin, append(args, ours...)...)
		}
	}
	models := make([]map[uint32]float64, len(ps))
	for i, p := range ps {
		r := p.wait()
		if r.code != 0 {
			t.Fatalf("rank %d (vw: %v): exit code %d\n%s", i, isVW(i), r.code, tail(r.stderr, 30))
		}
		if strings.Contains(r.stderr, "number of examples per pass = 0") {
			t.Fatalf("rank %d read nothing\n%s", i, r.stderr)
		}
		models[i] = weights(t, readFile(t, filepath.Join(dir, fmt.Sprintf("rm.%d.%d", id, i))))
	}
	return models
}

func compareModels(t *testing.T, what string, got, want map[uint32]float64) {
	t.Helper()
	for _, m := range []map[uint32]float64{got, want} {
		for i := range m {
			if !near(got[i], want[i], tolWeight) {
				t.Errorf("%s: weight %d: got %v, want %v", what, i, got[i], want[i])
				return
			}
		}
	}
	if len(want) == 0 {
		t.Errorf("%s: the model to compare with is empty", what)
	}
}
