// SPDX-License-Identifier: Apache-2.0

// Command pass measures one training pass over a file, whole process, of gvw
// beside the real vw: runs interleaved, medians, ratios. A figure counts only
// if both report the same average loss.
//
//	go run ./bench/pass -vw "python -m vowpalwabbit" -runs 5 FILE… -- --loss_function logistic -b 22
//
// The vw of PyPI starts inside Python; what `--version` costs is measured in
// the same run and subtracted in the lines marked net.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	if err := bench(); err != nil {
		fmt.Fprintln(os.Stderr, "pass:", err)
		os.Exit(1)
	}
}

// sample is the cost of one run of a program.
type sample struct {
	wall, cpu float64 // seconds
	loss      float64
}

func bench() error {
	vw := flag.String("vw", "python3 -m vowpalwabbit", "command line that starts the real vw")
	gvw := flag.String("gvw", "", "gvw binary; empty: built from this tree")
	runs := flag.Int("runs", 5, "runs of each program per file")
	flag.Parse()
	files, options := flag.Args(), []string{"--loss_function", "logistic", "-b", "22"}
	if i := slices.Index(files, "--"); i >= 0 {
		files, options = files[:i], files[i+1:]
	}
	if len(files) == 0 {
		return errors.New("no file to train on: see bench/README.md for how to make the data")
	}
	if *gvw == "" {
		dir, err := os.MkdirTemp("", "gvw-bench-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		*gvw = filepath.Join(dir, "gvw")
		if out, err := exec.Command("go", "build", "-o", *gvw, "github.com/gvw-project/gvw/cmd/gvw").CombinedOutput(); err != nil {
			return fmt.Errorf("cannot build gvw: %w\n%s", err, out)
		}
	}
	vwArgs := strings.Fields(*vw)
	var starts []sample
	for range *runs {
		s, err := measure(append(slices.Clone(vwArgs), "--version"))
		if err != nil {
			return err
		}
		starts = append(starts, s)
	}
	begin := median(starts)
	fmt.Printf("%d CPUs, load %s, %d runs each, medians; vw's start: %.2f s wall, %.2f s CPU\n", runtime.NumCPU(), load(), *runs, begin.wall, begin.cpu)
	for _, file := range files {
		if err := compare(file, options, vwArgs, *gvw, *runs, begin); err != nil {
			return err
		}
	}
	return nil
}

func compare(file string, options, vw []string, gvw string, runs int, begin sample) error {
	var theirs, ours []sample
	for range runs {
		v, err := measure(slices.Concat(vw, []string{"-d", file}, options))
		if err != nil {
			return err
		}
		g, err := measure(slices.Concat([]string{gvw, "-d", file}, options))
		if err != nil {
			return err
		}
		theirs, ours = append(theirs, v), append(ours, g)
	}
	v, g := median(theirs), median(ours)
	fmt.Printf("%s %s\n", filepath.Base(file), strings.Join(options, " "))
	fmt.Printf("  vw   %6.2f s wall  %6.2f s CPU  loss %.6f\n", v.wall, v.cpu, v.loss)
	fmt.Printf("  net  %6.2f s wall  %6.2f s CPU\n", v.wall-begin.wall, v.cpu-begin.cpu)
	fmt.Printf("  gvw  %6.2f s wall  %6.2f s CPU  loss %.6f\n", g.wall, g.cpu, g.loss)
	fmt.Printf("  gvw/net vw: wall %.2f, CPU %.2f\n", g.wall/(v.wall-begin.wall), g.cpu/(v.cpu-begin.cpu))
	if math.Abs(v.loss-g.loss) > 1e-4 {
		return fmt.Errorf("%s: average loss of gvw is %.6f, of vw %.6f: the figures do not count", file, g.loss, v.loss)
	}
	return nil
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
	s := sample{wall: wall, cpu: (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()}
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
		wall: at(func(s sample) float64 { return s.wall }),
		cpu:  at(func(s sample) float64 { return s.cpu }),
		loss: s[0].loss,
	}
}

// load is the machine's load average: how noisy the figures are.
func load() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(b), " ")
	return first
}
