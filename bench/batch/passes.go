// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gvw-project/gvw/bench/internal/cost"
)

// The two lengths of a run. Their difference is passes over the cache only, without the cost of
// starting and parsing.
const (
	fewPasses  = 5
	manyPasses = 25
)

// passes measures seconds per data pass. Both programs make all the passes: no other stopping
// rule is on.
func (b *bench) passes(file string) error {
	line := func(program []string, name string, n int) []string {
		return append(append([]string(nil), program...), "-d", file, "--bfgs", "--l2", "1", "--termination", "0", "--holdout_off",
			"--loss_function", "logistic", "-k", "--cache_file", filepath.Join(b.dir, name+".cache"),
			"--predict_only_model", "-f", filepath.Join(b.dir, name+".model"), "--passes", strconv.Itoa(n))
	}
	var lines [][]string
	for _, n := range []int{fewPasses, manyPasses} {
		for name, program := range map[string][]string{"vw": b.vw, "gvw": {b.gvw}} {
			_, out, err := cost.Measure(b.ctx, line(program, name, n)...)
			if err != nil {
				return err
			}
			if want := fmt.Sprintf("passes used = %d\n", n); !strings.Contains(out, want) {
				return fmt.Errorf("%s did not make %d passes:\n%s", name, n, out)
			}
		}
		lines = append(lines, line(b.vw, "vw", n), line([]string{b.gvw}, "gvw", n))
	}
	data, err := readSet(file, modelBits)
	if err != nil {
		return err
	}
	var samples [4][]cost.Sample // of the lines
	var bare []cost.Sample
	for range b.runs {
		one, err := cost.InTurns(b.ctx, 1, lines...)
		if err != nil {
			return err
		}
		for i := range samples {
			samples[i] = append(samples[i], one[i]...)
		}
		bare = append(bare, data.bareLoop())
	}
	per := func(few, many []cost.Sample) []cost.Sample {
		const n = manyPasses - fewPasses
		out := make([]cost.Sample, len(few))
		for i := range few {
			out[i] = cost.Sample{Wall: (many[i].Wall - few[i].Wall) / n, CPU: (many[i].CPU - few[i].CPU) / n}
		}
		return out
	}
	ofVW, ofGVW := per(samples[0], samples[2]), per(samples[1], samples[3])
	features := float64(len(data.fs))
	if b.json {
		return errors.Join(
			cost.WriteLines(os.Stdout, "pass", "vw", features, ofVW...), cost.WriteLines(os.Stdout, "pass", "gvw", features, ofGVW...),
			cost.WriteLines(os.Stdout, "pass", "bare loop", features, bare...))
	}
	vw, gvw, loop := cost.Median(ofVW), cost.Median(ofGVW), cost.Median(bare)
	fmt.Printf("L-BFGS, one data pass of %s: vw %.3f s wall, %.3f CPU; gvw %.3f, %.3f; gvw/vw %.2f wall, %.2f CPU\n",
		filepath.Base(file), vw.Wall, vw.CPU, gvw.Wall, gvw.CPU, gvw.Wall/vw.Wall, gvw.CPU/vw.CPU)
	fmt.Printf("%.0f features: gvw %.2f ns a feature, %.2f CPU; a bare loop of one thread %.2f\n",
		features, gvw.Wall/features*1e9, gvw.CPU/features*1e9, loop.Wall/features*1e9)
	return nil
}

// bareLoop adds up the gradient of the logistic loss in a plain loop of one thread, the least that a pass has to do. It
// returns the time of the fastest of some passes.
func (s *set) bareLoop() cost.Sample {
	const passes = 5
	w, gradient := make([]float32, 1<<s.bits), make([]float32, 1<<s.bits)
	fastest := cost.Sample{Wall: math.Inf(1), CPU: math.Inf(1)}
	for range passes {
		begun, cpu := time.Now(), cost.ProcessTime()
		for i, y := range s.labels {
			fs := s.fs[s.begin[i]:s.begin[i+1]]
			var p float32
			for _, x := range fs {
				p += w[x.Index] * x.Value
			}
			pull := -y / float32(1+math.Exp(float64(y*p)))
			for _, x := range fs {
				gradient[x.Index] += pull * x.Value
			}
		}
		fastest.Wall = min(fastest.Wall, time.Since(begun).Seconds())
		fastest.CPU = min(fastest.CPU, (cost.ProcessTime() - cpu).Seconds())
		for i, g := range gradient {
			w[i] -= 1e-6 * g
		}
		clear(gradient)
	}
	return fastest
}
