// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gvw-project/gvw/bench/internal/cost"
)

// program is one of the two programs that are compared.
type program struct {
	name    string
	command []string
}

// comparison runs both programs.
type comparison struct {
	dir       string
	runs      int
	tolerance float64 // between the losses of the programs, relative to those above 1
	programs  [2]program
	start     cost.Sample // cost of vw --version, which does no work
}

// begin measures the time to start vw.
func (b *comparison) begin(ctx context.Context) (cost.Sample, error) {
	s, err := cost.InTurns(ctx, b.runs, slices.Concat(b.programs[0].command, []string{"--version"}))
	if err != nil {
		return cost.Sample{}, err
	}
	return cost.Median(s[0]), nil
}

// row measures one work with both programs, run in turns.
func (b *comparison) row(ctx context.Context, w work) (vw, gvw []cost.Sample, err error) {
	for i := range b.programs {
		if w.before != nil {
			if _, _, err := cost.Measure(ctx, b.line(i, w.before)...); err != nil {
				return nil, nil, err
			}
		}
	}
	samples, err := cost.InTurns(ctx, b.runs, b.line(0, w.args), b.line(1, w.args))
	if err != nil {
		return nil, nil, err
	}
	vw, gvw = samples[0], samples[1]
	if !(math.Abs(vw[0].Loss-gvw[0].Loss) <= b.tolerance*max(1, vw[0].Loss)) {
		return vw, gvw, fmt.Errorf("%s: average loss of gvw is %.6f, of vw %.6f: the figures do not count", w.name, gvw[0].Loss, vw[0].Loss)
	}
	return vw, gvw, nil
}

// line returns the command line of program i.
func (b *comparison) line(i int, args []string) []string {
	p := b.programs[i]
	line := slices.Clone(p.command)
	for _, a := range args {
		if a == "CACHE" || a == "MODEL" {
			a = filepath.Join(b.dir, p.name+"."+strings.ToLower(a))
		}
		line = append(line, a)
	}
	return line
}
