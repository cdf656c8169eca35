// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/learn/nn"
)

// rings returns the lines of points in three rings around the origin, which are three classes.
func rings(seed uint64, n int) (lines []string) {
	r := rand.New(rand.NewPCG(seed, 1))
	for range n {
		x, y := 3*r.Float64()-1.5, 3*r.Float64()-1.5
		class := 1
		switch d := x*x + y*y; {
		case d > 1.5:
			class = 3
		case d > 0.5:
			class = 2
		}
		lines = append(lines, fmt.Sprintf("%d |p x:%.4f y:%.4f", class, x, y))
	}
	return lines
}

func TestNNIsDeterministicAndContinues(t *testing.T) {
	data := written(t, rings(1, 1000)...)
	model := filepath.Join(t.TempDir(), "m")
	common := []string{"nn", "-d", data, "--classes", "3", "--hidden", "24", "--passes", "5", "--random_seed", "3", "--standardize", "-l", "0.05"}
	succeed(t, append(common, "-f", model)...)
	succeed(t, append(common, "-f", model+"2")...)
	if !bytes.Equal(read(t, model), read(t, model+"2")) {
		t.Error("the same seed gave different models")
	}
	before := measured(t, "accuracy", "nn", model, data)
	succeed(t, "nn", "-d", data, "-i", model, "-f", model+"3", "--passes", "20")
	if got := measured(t, "accuracy", "nn", model+"3", data); got <= before || got < 0.93 {
		t.Errorf("accuracy after more passes: got %v, want more than %v and 0.93", got, before)
	}
}

func TestNNOnSeveralRanks(t *testing.T) {
	data, test := written(t, rings(1, 2000)...), written(t, rings(2, 500)...)
	model := filepath.Join(t.TempDir(), "m")
	for _, how := range []string{
		"--malt all --sync bsp",
		"--malt all --sync bsp --whole_every 4",
		"--malt all --sync bsp --malt_compress q8 --whole_every 4 --outer_rate 0.9 --outer_momentum 0.3",
		"--malt all --sync bsp --average --quantile_transform",
		"--malt ring --sync notify_ack --layer_graphs all,ring --layer_syncs ssp:2",
	} {
		var scaling []string
		if !strings.Contains(how, "--quantile_transform") {
			scaling = []string{"--standardize"}
		}
		parallel(t, 3, append([]string{
			"nn", "-d", data, "-f", model, "--classes", "3", "--hidden", "24", "--passes", "20",
			"-l", "0.1", "--cb_size", "50",
		}, append(strings.Fields(how), scaling...)...)...)
		if got := measured(t, "accuracy", "nn", model, test); got < 0.85 {
			t.Errorf("accuracy of 3 ranks, %s: got %v, want 0.85", how, got)
		}
	}
}

// Features that the model does not have are ignored in a job, too.
func TestNNOnSeveralRanksContinuesWithUnknownFeatures(t *testing.T) {
	known, model := rings(1, 200), filepath.Join(t.TempDir(), "m")
	succeed(t, "nn", "-d", written(t, known...), "-f", model, "--classes", "3", "--hidden", "8", "--passes", "1")
	more := slices.Clone(known)
	for i := range more {
		more[i] += " z:1"
	}
	var models [][]byte
	for _, lines := range [][]string{known, more} {
		parallel(t, 2, "nn", "-d", written(t, lines...), "-i", model, "-f", model+"2", "--passes", "1", "--cb_size", "20", "--malt", "all", "--sync", "bsp")
		models = append(models, read(t, model+"2"))
	}
	if !bytes.Equal(models[0], models[1]) {
		t.Error("an unknown feature changes the model")
	}
}

// Exchanges between two steps send what the steps before have changed. Each example has a feature of its own, whose weight
// only one step changes, by the learning rate. A rank that has sent the change has all of it, the other one half: the mean
// is three quarters. Only the last step of each rank has no exchange after it.
func TestNNSendsTheStepsOfBatches(t *testing.T) {
	const examples, rate = 40, 0.125
	var lines []string
	for i := range examples {
		lines = append(lines, fmt.Sprintf("%d |p z%d", 2*(i%2)-1, i))
	}
	data, model := written(t, lines...), filepath.Join(t.TempDir(), "m")
	first := func(name string) []float32 {
		var m nn.Model
		if err := m.UnmarshalBinary(read(t, name)); err != nil {
			t.Fatal(err)
		}
		return m.Config().Weights[0][:examples]
	}
	succeed(t, "nn", "-d", data, "-f", model, "--passes", "1", "-l", "1e-20")
	before := first(model)
	parallel(t, 2, "nn", "-d", data, "-f", model, "--passes", "1", "-l", fmt.Sprint(rate), "--batch", "2", "--cb_size", "1", "--malt", "all", "--sync", "bsp")
	sent := 0
	for i, w := range first(model) {
		switch share := math.Abs(float64(w-before[i])) / rate; {
		case math.Abs(share-0.75) < 1e-3:
			sent++
		case math.Abs(share-0.5) > 1e-3:
			t.Errorf("row %d: got %v of a step, want 0.75, or 0.5 for the last step", i, share)
		}
	}
	if sent < examples-4 {
		t.Errorf("%d rows were sent after their steps, want at least %d", sent, examples-4)
	}
}

func TestNNWithQuantilesAndMeanContinues(t *testing.T) {
	// Each axis is stretched unevenly, which places undo.
	lines := rings(1, 1000)
	for i, line := range lines {
		var class int
		var x, y float64
		if _, err := fmt.Sscanf(line, "%d |p x:%g y:%g", &class, &x, &y); err != nil {
			t.Fatal(err)
		}
		lines[i] = fmt.Sprintf("%d |p x:%.6g y:%.6g", class, math.Exp(6*x), 1e-6*y*y*y)
	}
	data, model := written(t, lines...), filepath.Join(t.TempDir(), "m")
	common := []string{"nn", "-d", data, "-f", model, "--classes", "3", "--hidden", "24", "--passes", "20", "-l", "0.2"}
	succeed(t, append(common, "--standardize")...)
	plain := measured(t, "accuracy", "nn", model, data)
	succeed(t, append(common, "--quantile_transform", "--average")...)
	if got := measured(t, "accuracy", "nn", model, data); got < 0.9 || got < plain+0.02 {
		t.Errorf("accuracy with quantiles: got %v, want 0.9 and more than %v without", got, plain)
	}
	succeed(t, "nn", "-d", data, "-i", model, "-f", model+"2", "--passes", "2")
	if got := measured(t, "accuracy", "nn", model+"2", data); got < 0.9 {
		t.Errorf("accuracy of a model that continues: got %v, want 0.9", got)
	}
	if _, err := execute(t.Context(), append(common, "--quantile_transform", "--standardize")...); err == nil || !strings.Contains(err.Error(), "choose one") {
		t.Errorf("--quantile_transform with --standardize: got %v, want an error", err)
	}
}

func TestNNRefusesWrongLabels(t *testing.T) {
	for _, label := range []string{"0", "4", "1.5"} {
		data := written(t, label+" |p x:1")
		if _, err := execute(t.Context(), "nn", "-d", data, "--classes", "3"); err == nil || !strings.Contains(err.Error(), "want a class from 1 to 3") {
			t.Errorf("label %s: got %v, want an error", label, err)
		}
	}
}

func TestNNRefusesMomentumZero(t *testing.T) {
	data := written(t, "1 |a x", "-1 |a y")
	if _, err := execute(t.Context(), "nn", "-d", data, "--rule", "momentum", "--momentum", "0"); err == nil || !strings.Contains(err.Error(), "--momentum 0: give a value above 0") {
		t.Errorf("got %v, want an error", err)
	}
	if _, err := execute(t.Context(), "nn", "-d", data, "--rule", "momentum", "--momentum", "1e-9"); err != nil {
		t.Error(err)
	}
}

// The bounds are below the scores of all passes, which docs/learners.md has.
func TestNNOnRealData(t *testing.T) {
	for _, c := range []struct {
		set, measure string
		least        float64
		args         string
	}{
		{"higgs-mini", "auc", 0.79, "--quantile_transform --average --hidden 64,32 --rule momentum -l 0.05 --passes 30 --lambda 0.003"},
		{"fashion-mini", "accuracy", 0.78, "--classes 10 --hidden 32 --rule momentum --rate_decay 0.2 --passes 4"},
		{"20news", "accuracy", 0.7, "--classes 20 --text --hidden 16,16 --embedding --loss_function ranking -l 0.1 --passes 2"},
	} {
		t.Run(c.set, func(t *testing.T) {
			train, test := dataSet(t, c.set)
			model := filepath.Join(t.TempDir(), "m")
			succeed(t, append([]string{"nn", "-d", train, "-f", model}, strings.Fields(c.args)...)...)
			if got := measured(t, c.measure, "nn", model, test); got < c.least {
				t.Errorf("%s: got %v, want %v", c.measure, got, c.least)
			}
		})
	}
}
