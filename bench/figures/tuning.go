// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/bench/internal/setup"
)

// A search for the options of SGD on a9a: every fourth example of the training file is held out.
const (
	tuneTrials, tunePasses, tuneSeeds = 64, 9, 5
	tuneSpace                         = "learning_rate=log:0.001..100 l2=log:1e-9..1e-2 power_t=0..1"
)

// tuneGoals are distances from the best loss of all searches, as shares of it.
var tuneGoals = []float64{0.01, 0.001}

// found is the best loss with all passes, after some processor time and trials.
type found struct {
	cpu    float64
	trials int
	loss   float64
}

// searches compares strategies of gvw search by the processor time until they have found good options.
func searches(ctx context.Context, data string) (figures []figure, err error) {
	dir, err := os.MkdirTemp("", "gvw-figures-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	gvw, err := setup.Build(ctx, dir, "gvw")
	if err != nil {
		return nil, err
	}
	if err := holdOut(filepath.Join(data, "a9a", "train.vw.gz"), dir); err != nil {
		return nil, err
	}
	strategies := []string{"asha", "hyperband", "random"}
	runs := map[string][][]found{}
	best := math.Inf(1)
	for seed := range tuneSeeds {
		for _, s := range strategies {
			journal := filepath.Join(dir, fmt.Sprintf("%s.%d", s, seed))
			cmd := exec.CommandContext(ctx, gvw, "search", "--space", tuneSpace, "--trials", strconv.Itoa(tuneTrials), "--strategy", s, "--seed", strconv.Itoa(seed),
				"--valid", "valid.vw", "--state", journal, "--quiet", "--", "-d", "train.vw", "--loss_function", "logistic", "--passes", strconv.Itoa(tunePasses))
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				return nil, fmt.Errorf("gvw search --strategy %s: %w\n%s", s, err, out)
			}
			steps, err := readSearch(journal, s != "random")
			if err != nil {
				return nil, err
			}
			runs[s] = append(runs[s], steps)
			best = min(best, steps[len(steps)-1].loss)
		}
	}
	f := figure{
		Name: "search-a9a", Title: "Search for options of SGD, a9a", X: "CPU seconds of the trainings", Y: "held-out loss over the best, in percent", LogX: true, LogY: true,
	}
	notes := []string{fmt.Sprintf("a9a: 24421 examples, 8140 held out; %d trials, %d passes, η 3, %d seeds, one training at a time; best loss %.6f; medians over the seeds", tuneTrials, tunePasses, tuneSeeds, best)}
	for _, s := range strategies {
		f.Add(s, medians(runs[s], best)...)
		notes = append(notes, s+": "+reached(runs[s], best))
	}
	f.Notes = strings.Join(notes, "; ") + "; " + setup.Machine()
	return []figure{f}, nil
}

// holdOut writes every fourth line of a file to valid.vw and the others to train.vw.
func holdOut(name, dir string) (err error) {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	var parts [2]strings.Builder
	lines := bufio.NewScanner(z)
	for n := 1; lines.Scan(); n++ {
		at := 0
		if n%4 == 0 {
			at = 1
		}
		parts[at].WriteString(lines.Text() + "\n")
	}
	return errors.Join(lines.Err(), os.WriteFile(filepath.Join(dir, "train.vw"), []byte(parts[0].String()), 0o600), os.WriteFile(filepath.Join(dir, "valid.vw"), []byte(parts[1].String()), 0o600))
}

// readSearch returns the improvements that a journal has, and its end. If halved, trainings with fewer than
// all passes do not count, since the search chooses among the others.
func readSearch(journal string, halved bool) ([]found, error) {
	text, err := os.ReadFile(journal)
	if err != nil {
		return nil, err
	}
	_, rest, _ := strings.Cut(string(text), "\n")
	var steps []found
	now := found{loss: math.Inf(1)}
	for line := range strings.Lines(rest) {
		var o struct {
			Trial, Resource int
			Loss            *float64
			CPU             float64 `json:"cpu_seconds"`
		}
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			return nil, fmt.Errorf("%s: %w", journal, err)
		}
		now.cpu += o.CPU
		now.trials = max(now.trials, o.Trial+1)
		if o.Loss != nil && *o.Loss < now.loss && (!halved || o.Resource == tunePasses) {
			now.loss = *o.Loss
			steps = append(steps, now)
		}
	}
	if len(steps) == 0 {
		return nil, fmt.Errorf("%s: no training with all passes has succeeded", journal)
	}
	return append(steps, now), nil
}

// medians returns the median distance from the best loss, in percent, over processor time.
func medians(runs [][]found, best float64) (points []point) {
	for t := 0.1; t < 1000; t *= 1.1 {
		var at []float64
		ended := 0
		for _, steps := range runs {
			loss := math.Inf(1)
			for _, s := range steps {
				if s.cpu <= t {
					loss = s.loss
				}
			}
			if steps[len(steps)-1].cpu <= t {
				ended++
			}
			at = append(at, loss)
		}
		if m := middle(at); !math.IsInf(m, 1) {
			points = append(points, point{X: t, Y: max(100*(m/best-1), 1e-4)})
		}
		if ended == len(runs) {
			break
		}
	}
	return points
}

// reached returns the trials and processor seconds to each goal.
func reached(runs [][]found, best float64) string {
	var parts []string
	for _, goal := range tuneGoals {
		var trials, cpu []float64
		missed := 0
		for _, steps := range runs {
			i := slices.IndexFunc(steps, func(f found) bool { return f.loss <= best*(1+goal) })
			if i < 0 {
				missed++
				trials, cpu = append(trials, math.Inf(1)), append(cpu, math.Inf(1))
				continue
			}
			trials, cpu = append(trials, float64(steps[i].trials)), append(cpu, steps[i].cpu)
		}
		text := fmt.Sprintf("to %g %%: %g trials, %.3g s (at least %.3g)", 100*goal, middle(trials), middle(cpu), slices.Min(cpu))
		if missed > 0 {
			text += fmt.Sprintf(", not reached with %d of %d seeds", missed, len(runs))
		}
		parts = append(parts, text)
	}
	var whole []float64
	for _, steps := range runs {
		whole = append(whole, steps[len(steps)-1].cpu)
	}
	return strings.Join(append(parts, fmt.Sprintf("all: %.3g s", middle(whole))), ", ")
}

// middle returns the median of an odd number of values.
func middle(values []float64) float64 { return slices.Sorted(slices.Values(values))[len(values)/2] }
