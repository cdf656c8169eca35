// SPDX-License-Identifier: Apache-2.0

package sgd

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/option"
)

// recording is a section of testdata/vw.txt: a small run of the real vw.
type recording struct {
	options, text      string
	predictions, model []string
}

func recordings(t *testing.T) []recording {
	t.Helper()
	all, err := os.ReadFile("testdata/vw.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out []recording
	for _, section := range strings.Split(string(all), "\n== ")[1:] {
		options, rest, _ := strings.Cut(section, "\n")
		text, rest, _ := strings.Cut(rest, "-- predictions\n")
		preds, model, _ := strings.Cut(rest, "-- model\n")
		out = append(out, recording{
			options, text,
			strings.Split(strings.TrimSpace(preds), "\n"),
			strings.Split(strings.TrimSpace(model), "\n"),
		})
	}
	return out
}

// flags reads the options of a recording.
func (r recording) flags(t *testing.T) (f Flags, lossName string, noConstant bool) {
	t.Helper()
	f.Bits, lossName = 4, "squared"
	words := strings.Fields(r.options)
	value := func(i int) float64 {
		v, err := strconv.ParseFloat(words[i+1], 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for i, w := range words {
		switch w {
		case "--sgd":
			f.SGD = true
		case "--adaptive":
			f.Adaptive = true
		case "--normalized":
			f.Normalized = true
		case "--invariant":
			f.Invariant = true
		case "-l":
			f.LearningRate = option.Some(float32(value(i)))
		case "--power_t":
			f.PowerT = option.Some(float32(value(i)))
		case "--l1":
			f.L1 = value(i)
		case "--l2":
			f.L2 = value(i)
		case "--loss_function":
			lossName = words[i+1]
		case "--noconstant":
			noConstant = true
		default:
			if strings.HasPrefix(w, "--") {
				t.Fatalf("unknown option %s", w)
			}
		}
	}
	return f, lossName, noConstant
}

// TestSmallRunsAsVW compares corner cases with the real vw, sums included: other exponents,
// infinite and tiny values, features that occur twice in an example, examples without weight,
// label or loss, soft labels, initial predictions, pending regularisation, a learning rate of
// 0.
func TestSmallRunsAsVW(t *testing.T) {
	for n, r := range recordings(t) {
		t.Run(fmt.Sprintf("%d%s", n, strings.ReplaceAll(r.options, " ", "")), func(t *testing.T) {
			flags, lossName, noConstant := r.flags(t)
			l, err := loss.New(lossName)
			if err != nil {
				t.Fatal(err)
			}
			lr, err := New(flags.Config(), l)
			if err != nil {
				t.Fatal(err)
			}
			b := parse(t, feature.Config{Bits: flags.Bits, NoConstant: noConstant}, []byte(r.text))
			unlabeled := 0.0
			for i := range b.Examples {
				ex := &b.Examples[i]
				_, p, _ := lr.Learn(b.FeaturesOf(ex), ex)
				same(t, fmt.Sprintf("prediction %d", i+1), float64(p), r.predictions[i])
				if !ex.Labeled() {
					unlabeled += float64(ex.Weight)
				}
			}
			checkModel(t, lr, unlabeled, r.model)
		})
	}
}

// checkModel compares the whole state of a learner with a readable model.
func checkModel(t *testing.T, lr *Learner, unlabeled float64, lines []string) {
	t.Helper()
	sc := lr.Scalars()
	sums := []int{} // the floats of a weight that a model keeps besides w
	if lr.cfg.Adaptive {
		sums = append(sums, 1)
	}
	if lr.cfg.Normalized {
		sums = append(sums, 1+len(sums))
	}
	var seen []int
	for _, line := range lines {
		name, value, isWeight := strings.Cut(line, ":")
		if isWeight {
			i, _ := strconv.Atoi(name)
			seen = append(seen, i)
			cell := lr.Weights()[i*lr.Stride():]
			for k, v := range strings.Fields(value) {
				slot := 0
				if k > 0 {
					slot = sums[k-1]
				}
				same(t, fmt.Sprintf("weight %d float %d", i, slot), float64(cell[slot]), v)
			}
			continue
		}
		at := strings.LastIndexByte(line, ' ')
		name, value = line[:at], line[at+1:]
		got, ok := map[string]float64{
			"norm normalizer": sc.Nsx, "total_weight": sc.TotalWeight,
			"t":         sc.T + unlabeled, // vw's t counts these too, and vw subtracts them where it uses t
			"min_label": float64(sc.Range.Min), "max_label": float64(sc.Range.Max),
			"l1_state": sc.Gravity, "l2_state": sc.Contraction,
		}[name]
		if !ok {
			t.Fatalf("unknown line %q", line)
		}
		// vw counts t from 1 in the plain rules, and so does the learner.
		same(t, name, got, value)
	}
	for i, w := range column(lr, weight) {
		if w != 0 && !slices.Contains(seen, i) {
			t.Errorf("weight %d is %v, want 0", i, w)
		}
	}
}

// same compares with six recorded digits.
func same(t *testing.T, what string, got float64, recorded string) {
	t.Helper()
	want, err := strconv.ParseFloat(recorded, 64)
	if err != nil {
		t.Fatal(err)
	}
	if got == want || math.Abs(got-want) <= max(6e-6*math.Abs(want), 6e-7) {
		return
	}
	t.Errorf("%s = %v, want %v", what, got, want)
}
