// SPDX-License-Identifier: Apache-2.0

package cost

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Sample is the cost of one run of a program.
type Sample struct {
	Wall, CPU float64 // seconds, of the process and the children that it has waited for
	Memory    float64 // peak resident memory in MB, of the largest of these processes
	Loss      float64 // the average loss that the program printed; NaN: none
}

// Measure runs a command line to its end and returns its cost and its output on stdout and stderr.
func Measure(ctx context.Context, args ...string) (Sample, string, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	var talk bytes.Buffer
	cmd.Stdout, cmd.Stderr = &talk, &talk
	begun := time.Now()
	err := cmd.Run()
	wall := time.Since(begun).Seconds()
	if err != nil {
		return Sample{}, "", fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, talk.String())
	}
	s := Sample{
		Wall: wall, CPU: (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(),
		Memory: resident(cmd.ProcessState),
		Loss:   math.NaN(),
	}
	for line := range strings.Lines(talk.String()) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "average loss = "); ok {
			if s.Loss, err = strconv.ParseFloat(strings.TrimSuffix(text, " h"), 64); err != nil {
				return s, "", err
			}
		}
	}
	return s, talk.String(), nil
}

// InTurns measures several command lines, run in turns, and returns the samples of each.
func InTurns(ctx context.Context, rounds int, lines ...[]string) ([][]Sample, error) {
	all := make([][]Sample, len(lines))
	for range rounds {
		for i, l := range lines {
			s, _, err := Measure(ctx, l...)
			if err != nil {
				return nil, err
			}
			all[i] = append(all[i], s)
		}
	}
	return all, nil
}

// Median returns the median of each cost, and the loss of the first sample.
func Median(s []Sample) Sample {
	at := func(value func(Sample) float64) float64 {
		v := make([]float64, len(s))
		for i := range s {
			v[i] = value(s[i])
		}
		slices.Sort(v)
		return v[len(v)/2]
	}
	return Sample{
		Wall:   at(func(s Sample) float64 { return s.Wall }),
		CPU:    at(func(s Sample) float64 { return s.CPU }),
		Memory: at(func(s Sample) float64 { return s.Memory }),
		Loss:   s[0].Loss,
	}
}
