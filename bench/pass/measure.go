// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// sample is the cost of one run of a program.
type sample struct {
	wall, cpu float64 // seconds
	memory    float64 // peak resident memory in MB
	loss      float64
}

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
	start     sample // cost of vw --version, which does no work
}

// begin measures the time to start vw.
func (b *comparison) begin() (sample, error) {
	var s []sample
	for range b.runs {
		one, err := measure(slices.Concat(b.programs[0].command, []string{"--version"}))
		if err != nil {
			return one, err
		}
		s = append(s, one)
	}
	return median(s), nil
}

// row measures one work with both programs, run in turns.
func (b *comparison) row(w work) (vw, gvw sample, err error) {
	var samples [2][]sample
	for i := range b.programs {
		if w.before != nil {
			if _, err := measure(b.line(i, w.before)); err != nil {
				return vw, gvw, err
			}
		}
	}
	for range b.runs {
		for i := range b.programs {
			s, err := measure(b.line(i, w.args))
			if err != nil {
				return vw, gvw, err
			}
			samples[i] = append(samples[i], s)
		}
	}
	vw, gvw = median(samples[0]), median(samples[1])
	if !(math.Abs(vw.loss-gvw.loss) <= b.tolerance*max(1, vw.loss)) {
		return vw, gvw, fmt.Errorf("%s: average loss of gvw is %.6f, of vw %.6f: the figures do not count", w.name, gvw.loss, vw.loss)
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

// measure runs a command line to its end.
func measure(args []string) (sample, error) {
	cmd := exec.Command(args[0], args[1:]...)
	var talk bytes.Buffer
	cmd.Stderr = &talk
	begun := time.Now()
	err := cmd.Run()
	wall := time.Since(begun).Seconds()
	if err != nil {
		return sample{}, fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, talk.String())
	}
	s := sample{
		wall: wall, cpu: (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(),
		memory: resident(cmd.ProcessState),
		loss:   math.NaN(),
	}
	for line := range strings.Lines(talk.String()) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "average loss = "); ok {
			if s.loss, err = strconv.ParseFloat(strings.TrimSuffix(text, " h"), 64); err != nil {
				return s, err
			}
		}
	}
	return s, nil
}

func median(s []sample) sample {
	at := func(value func(sample) float64) float64 {
		v := make([]float64, len(s))
		for i := range s {
			v[i] = value(s[i])
		}
		slices.Sort(v)
		return v[len(v)/2]
	}
	return sample{
		wall:   at(func(s sample) float64 { return s.wall }),
		cpu:    at(func(s sample) float64 { return s.cpu }),
		memory: at(func(s sample) float64 { return s.memory }),
		loss:   s[0].loss,
	}
}
