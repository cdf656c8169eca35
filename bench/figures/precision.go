// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/bench/internal/task"
	"github.com/gvw-project/gvw/hdfsio"
)

const (
	// precisionPasses is the number of passes of SGD and L-BFGS in the figures of auPRC.
	precisionPasses = 20
	// splicePart is the number of windows of splice to train with.
	splicePart = 40_000
)

// hybridPasses are the passes after which the hybrid is measured. Each point is a job of its own, since a hybrid has
// no models of single passes.
var hybridPasses = []int{3, 4, 6, 8, 10, 13, 16, 20}

// windows are windows of bases with labels, in vw's text.
type windows struct {
	name, about, seed string
	train, test       []string
	l2                float64 // of the sum of the losses
}

// precisionOf returns the experiment that compares the auPRC of online SGD, L-BFGS and the hybrid by passes.
func precisionOf(read func(data string) (windows, error)) func(ctx context.Context, data string) ([]figure, error) {
	return func(ctx context.Context, data string) (figures []figure, err error) {
		w, err := read(data)
		if err != nil {
			return nil, err
		}
		j, end, err := newJobs(ctx)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, end()) }()
		for name, lines := range map[string][]string{"train.vw": w.train, "test.vw": w.test} {
			if err := os.WriteFile(j.path(name), []byte(strings.Join(lines, "")), 0o600); err != nil {
				return nil, err
			}
		}
		f := figure{
			Name: "prc-" + w.name, Title: "auPRC by passes, " + w.name, X: "passes over the training data", Y: "auPRC of the test data", Seed: w.seed,
			Alt: "Lines of auPRC on test data by passes: online SGD is high from its first pass and does not rise, L-BFGS begins low, the hybrid begins high and rises.",
			Shows: "It shows how many passes each algorithm needs, on one data set with one setting of each. It does not show time, nor the best settings: " +
				"SGD has vw's defaults, and --l2 is the better of two values.",
		}
		var last []string
		for _, system := range []struct {
			name    string
			options []string
		}{
			{"online SGD", nil},
			{"L-BFGS", []string{"--bfgs", "--termination", "0", "--l2", number64(w.l2)}},
			{"hybrid", nil},
		} {
			points, err := j.precision(ctx, system.name, w.l2, system.options)
			if err != nil {
				return nil, err
			}
			f.Lines = append(f.Lines, line{Name: system.name, Points: points})
			last = append(last, fmt.Sprintf("%s %.4f, %.4f", system.name, points[0].Y, points[len(points)-1].Y))
		}
		f.Notes = fmt.Sprintf("%s; %d ranks on the loopback; --l2 %g for L-BFGS and the hybrid (one pass of SGD, then L-BFGS); at the first and last point: %s",
			w.about, ranks, w.l2, strings.Join(last, "; "))
		return []figure{f}, nil
	}
}

// precision trains, and returns the auPRC of the test data by passes.
func (j *jobs) precision(ctx context.Context, name string, l2 float64, options []string) (points []point, err error) {
	common := []string{"-d", j.path("train.vw"), "--cache_file", j.path("train.{rank}"), "-b", "18", "--loss_function", "logistic", "--holdout_off", "-f", j.path("model")}
	measure := func(model string, passes int) error {
		y, err := j.auprc(ctx, model)
		points = append(points, point{X: float64(passes), Y: y})
		return err
	}
	if name == "hybrid" {
		for _, passes := range hybridPasses {
			if _, err := j.run(ctx, "", append(slices.Clone(common), "--hybrid", fmt.Sprintf("1:%d", passes-1), "--termination", "0", "--l2", number64(l2))...); err != nil {
				return nil, err
			}
			if err := measure(j.path("model"), passes); err != nil {
				return nil, err
			}
		}
		return points, nil
	}
	if _, err := j.run(ctx, "", append(append(common, options...), "--passes", strconv.Itoa(precisionPasses), "--save_per_pass")...); err != nil {
		return nil, err
	}
	for pass := 1; pass <= precisionPasses; pass++ {
		if err := measure(j.path("model."+strconv.Itoa(pass)), pass); err != nil {
			return nil, err
		}
	}
	return points, nil
}

// auprc returns the auPRC of a model on the test data.
func (j *jobs) auprc(ctx context.Context, model string) (float64, error) {
	out := j.path("metrics")
	cmd := exec.CommandContext(ctx, j.gvw, "-t", "-i", model, "-d", j.path("test.vw"), "--cache_file", j.path("test.cache"), "--metrics", "auprc", "--metrics_file", out, "--quiet")
	if text, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, text)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		return 0, err
	}
	var m struct {
		Metrics struct {
			AUPRC *float64 `json:"auprc"`
		} `json:"metrics"`
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return 0, fmt.Errorf("%s: %w", out, err)
	}
	if m.Metrics.AUPRC == nil {
		return 0, fmt.Errorf("%s: got no auprc: %s", out, text)
	}
	return *m.Metrics.AUPRC, nil
}

// spliceWindows reads windows of splice.
func spliceWindows(data string) (w windows, err error) {
	w = windows{name: "splice", l2: 1, seed: "17"}
	if w.train, err = readWindows(filepath.Join(data, "splice", "ce-don-decoy.train.tsv.gz"), splicePart); err != nil {
		return w, err
	}
	if w.test, err = readWindows(filepath.Join(data, "splice", "ce-don-decoy.test.tsv.gz"), 0); err != nil {
		return w, err
	}
	w.about = fmt.Sprintf("donor sites of C. elegans among decoys: the first %d windows of the training file, shuffled, and all %d of the test file, as k-mers of 1 to %d bases with positions",
		len(w.train), len(w.test), task.Longest)
	return w, nil
}

// readWindows reads the first windows of a file, or all for 0, and shuffles them.
func readWindows(path string, most int) (lines []string, err error) {
	r, err := hdfsio.Open(context.Background(), hdfsio.Local{}, path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for s := bufio.NewScanner(r); s.Scan(); {
		if most > 0 && len(lines) == most {
			break
		}
		label, rest, _ := strings.Cut(s.Text(), "\t")
		_, sequence, ok := strings.Cut(rest, "\t")
		if !ok {
			return nil, fmt.Errorf("%s: line %d: got %q, want label, kind and bases", path, len(lines)+1, s.Text())
		}
		lines = append(lines, task.Kmers(label, sequence)+"\n")
	}
	rand.New(rand.NewPCG(17, 2)).Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	return lines, nil
}

// drawnWindows draws windows of 42 bases. One in eleven is a site: each base near the middle depends on its position and on
// the base before it. In decoys the bases depend on nothing.
func drawnWindows(string) (windows, error) { return drawWindows(splicePart, 20_000), nil }

// drawWindows is drawnWindows with a number of windows to train and to test with.
func drawWindows(train, test int) windows {
	const size, sites, bases = 42, 14, "ACGT"
	rng := rand.New(rand.NewPCG(22, 1))
	var site [size][4][4]float64 // probabilities by position, the base before, and the base
	for i := range site {
		for before := range site[i] {
			sum := 0.0
			for b := range site[i][before] {
				p := 1.0
				if d := i - size/2; d >= -sites/2 && d < sites/2 {
					p = 0.35 + rng.Float64()
				}
				site[i][before][b] = p
				sum += p
			}
			for b := range site[i][before] {
				site[i][before][b] /= sum
			}
		}
	}
	draw := func(n int) (lines []string) {
		window := make([]byte, size)
		for range n {
			label, before := "-1", 0
			positive := rng.IntN(11) == 0
			if positive {
				label = "1"
			}
			for i := range window {
				b := rng.IntN(4)
				if positive {
					x := rng.Float64()
					for b = 0; b < 3 && x >= site[i][before][b]; b++ {
						x -= site[i][before][b]
					}
				}
				window[i], before = bases[b], b
			}
			lines = append(lines, task.Kmers(label, string(window))+"\n")
		}
		return lines
	}
	w := windows{name: "generated", seed: "22", l2: 1, train: draw(train), test: draw(test)}
	w.about = fmt.Sprintf("%d drawn windows of %d bases and %d for the test, one in eleven a site with a pattern of %d bases, as k-mers of 1 to %d bases with positions",
		len(w.train), size, len(w.test), sites, task.Longest)
	return w
}
