// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// vw runs the real vw in dir and returns its output. It checks the number of examples, because
// vw accepts a wrong input and reads nothing.
func vw(t *testing.T, dir string, examples int, args ...string) string {
	t.Helper()
	python := os.Getenv("GVW_VW_PYTHON")
	if python == "" {
		if os.Getenv("REQUIRE_ALL") == "1" {
			t.Fatal("no real vw: set GVW_VW_PYTHON to a python that has vowpalwabbit 9.11.9")
		}
		t.Skip("no real vw to compare with: set GVW_VW_PYTHON to a python that has vowpalwabbit 9.11.9")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, python, append([]string{"-m", "vowpalwabbit"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("vw %v: %v\n%s", args, err, out)
	}
	m := regexp.MustCompile(`number of examples(?: per pass)? = (\d+)`).FindSubmatch(out)
	if m == nil || string(m[1]) != strconv.Itoa(examples) {
		t.Fatalf("vw %v did not read %d examples:\n%s", args, examples, out)
	}
	return string(out)
}

// anonymous features "5:0.5" have their number as hash, so the test can map weights to features
// without a hash function.
const vwData = "1 |a 1:0.5 2:2 3\n-1 0.5 |b 4:1.5 1\n0.25 |a 2 7:-1 |b 3\n"

func writeFile(t *testing.T, dir, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestVWWritesWeRead trains with the real vw in each form that a file has and
// compares our decoding with vw's own readable form, and our bytes with vw's.
func TestVWWritesWeRead(t *testing.T) {
	for name, args := range map[string]string{
		"default":          "",
		"predict only":     "--predict_only_model",
		"adaptive":         "--adaptive --power_t 0.4",
		"normalized":       "--normalized -l 1e-8",
		"sgd, l1, l2":      "--sgd --l1 1e-3 --l2 1e-2 --id spam-7",
		"options":          "--ignore_linear a -q ab -q bb --cubic abb --link logistic --noconstant --keep a --keep b --hash_seed 3 --binary",
		"n-grams":          "--ngram a2 --ngram b2 --skips 1",
		"two passes":       "--passes 2 -k --cache_file two.cache --holdout_off --loss_function logistic",
		"large and small":  "--sgd -l 1000000 --noconstant",
		"no example at 0":  "--initial_t 4 --decay_learning_rate 0.5",
		"adaptive inv sgd": "--adaptive --invariant --sgd",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeFile(t, dir, "in.vw", []byte(vwData))
			vw(t, dir, 3, append([]string{"-d", "in.vw", "-b", "7", "-f", "m", "--readable_model", "m.rm"}, strings.Fields(args)...)...)
			binary := readFile(t, filepath.Join(dir, "m"))
			r, err := Read(bytes.NewReader(binary), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if err := WriteReadable(&got, r); err != nil {
				t.Fatal(err)
			}
			compareText(t, got.String(), string(readFile(t, filepath.Join(dir, "m.rm"))))
			got.Reset()
			if err := Write(&got, r); err != nil {
				t.Fatal(err)
			}
			if r.Version == Version && !bytes.Equal(got.Bytes(), binary) {
				t.Error("written back, the bytes differ from vw's")
			}
		})
	}
}

// TestWeWriteVWReads predicts with the real vw from our models.
func TestWeWriteVWReads(t *testing.T) {
	const bits = 5
	// w·x for the line "1 | 1:0.5 2:2 30 9:-1".
	weights := make([]float32, 4<<bits)
	for i := range 1 << bits {
		weights[4*i] = float32(i) / 64
		weights[4*i+1] = float32(i%3) * 2 // G
		weights[4*i+2] = 1                // N
	}
	const constant = 11650396 & (1<<bits - 1)
	want := (0.5*1+2*2+30-9)/64.0 + constant/64.0
	base := Header{MinLabel: -100, MaxLabel: 100, Bits: bits}
	with := func(options ...Option) Header {
		h := base
		h.Options = options
		return h
	}
	resume := &Resume{
		NormNormalizer: 12, T: 3, TotalWeight: 3, WeightedLabeled: 3, WeightedLabels: 1, ExampleNumber: 3,
		TotalFeatures: 12, DumpInterval: 4, MinLabel: -100, MaxLabel: 100, CurrentPass: 1, Contraction: 1,
	}
	halved := *resume
	halved.Contraction = 0.5
	for name, tc := range map[string]struct {
		r    Regressor
		want float64
	}{
		"predict only":  {Regressor{Header: base, Weights: View{Data: weights, Stride: 4, Slots: []int{0}}}, want},
		"resume":        {Regressor{Header: base, Resume: resume, Weights: View{Data: weights, Stride: 4, Slots: []int{0, 1, 2}}}, want},
		"adaptive":      {Regressor{Header: with(FloatOption("power_t", 0.4), Option{"adaptive", ""}), Resume: resume, Weights: View{Data: weights, Stride: 4, Slots: []int{0, 1}}}, want},
		"normalized":    {Regressor{Header: with(Option{"normalized", ""}), Resume: resume, Weights: View{Data: weights, Stride: 4, Slots: []int{0, 2}}}, want},
		"sgd with l2":   {Regressor{Header: with(Option{"sgd", ""}), Resume: &halved, Weights: View{Data: weights, Stride: 4, Slots: []int{0}}}, want / 2},
		"bfgs":          {Regressor{Header: with(Option{"bfgs", ""}), Weights: View{Data: weights, Stride: 4, Slots: []int{0}}}, want},
		"logistic link": {Regressor{Header: with(Option{"link", "logistic"}), Weights: View{Data: weights, Stride: 4, Slots: []int{0}}}, 1 / (1 + math.Exp(-want))},
		"an id":         {Regressor{Header: Header{ID: "spam-7", MinLabel: -100, MaxLabel: 100, Bits: bits}, Weights: View{Data: weights, Stride: 4, Slots: []int{0}}}, want},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeFile(t, dir, "in.vw", []byte("1 | 1:0.5 2:2 30 9:-1\n"))
			var b bytes.Buffer
			if err := Write(&b, &tc.r); err != nil {
				t.Fatal(err)
			}
			writeFile(t, dir, "m", b.Bytes())
			args := []string{"-d", "in.vw", "-t", "-i", "m", "-p", "p"}
			if tc.r.Kind() == BFGS {
				args = append(args, "--predict_only_model") // vw 9 requires it
			}
			vw(t, dir, 1, args...)
			line, _ := bufio.NewReader(bytes.NewReader(readFile(t, filepath.Join(dir, "p")))).ReadString('\n')
			got, err := strconv.ParseFloat(strings.TrimSpace(line), 64)
			if err != nil || math.Abs(got-tc.want) > 2e-6 {
				t.Errorf("vw predicts %q, want %v", line, tc.want)
			}
			if tc.r.Resume == nil {
				return
			}
			// After training on no example, vw must keep our state: its readable form equals
			// ours.
			writeFile(t, dir, "one.vw", []byte(" | 1:0.5\n"))
			vw(t, dir, 1, "-d", "one.vw", "-i", "m", "--readable_model", "m.rm")
			text := string(readFile(t, filepath.Join(dir, "m.rm")))
			for _, want := range []string{
				fmt.Sprintf("\nnorm normalizer %v\n", tc.r.Resume.NormNormalizer),
				fmt.Sprintf("\ntotal_weight %v\n", tc.r.Resume.TotalWeight),
				fmt.Sprintf("\nl2_state %v\n", tc.r.Resume.Contraction),
			} {
				if !strings.Contains(text, want) {
					t.Errorf("vw carries on without %q:\n%.900s", want, text)
				}
			}
			_, ours, _ := strings.Cut(readable(t, &tc.r), "\nl2_state ")
			_, theirs, _ := strings.Cut(text, "\nl2_state ")
			compareText(t, theirs, ours)
		})
	}
}

func readable(t *testing.T, r *Regressor) string {
	t.Helper()
	var b strings.Builder
	if err := WriteReadable(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
