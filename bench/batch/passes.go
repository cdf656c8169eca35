// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

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
	c, err := b.inTurns(lines...)
	if err != nil {
		return err
	}
	per := func(few, many cost.Sample) cost.Sample {
		const n = manyPasses - fewPasses
		return cost.Sample{Wall: (many.Wall - few.Wall) / n, CPU: (many.CPU - few.CPU) / n}
	}
	vw, gvw := per(c[0], c[2]), per(c[1], c[3])
	fmt.Printf("L-BFGS, one data pass of %s: vw %.3f s wall, %.3f CPU; gvw %.3f, %.3f; gvw/vw %.2f wall, %.2f CPU\n",
		filepath.Base(file), vw.Wall, vw.CPU, gvw.Wall, gvw.CPU, gvw.Wall/vw.Wall, gvw.CPU/vw.CPU)
	return nil
}
