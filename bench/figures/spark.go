// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

//go:embed spark.py
var sparkScript []byte

// sparkPython is a Python with pyspark; "": MLlib is not measured.
var sparkPython string

// besideSpark compares averages with MLlib on Spark's local-cluster, in one run.
func besideSpark(ctx context.Context, data string) (figures []figure, err error) {
	if sparkPython == "" {
		return nil, skipped("it needs -spark PYTHON, with pyspark and numpy, and Java 17")
	}
	j, end, err := newJobs(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	p, err := newProblem(data, "a9a")
	if err != nil {
		return nil, err
	}
	curves, optimum, _, err := p.measure(ctx, j)
	if err != nil {
		return nil, err
	}
	if err := p.writeLibSVM(j.path("a9a.svm")); err != nil {
		return nil, err
	}
	peers, version, err := j.mllib(ctx, &p)
	if err != nil {
		return nil, err
	}
	p.Name = "a9a-mllib"
	figures = p.draw(append(curves, peers...), optimum, "")
	for i := range figures {
		f := &figures[i]
		f.Title += ", beside MLlib"
		f.Title = strings.Replace(f.Title, p.Name, "a9a", 1)
		f.Notes += fmt.Sprintf("; PySpark %s, local-cluster of %d workers: its rounds are iterations, of which only those drawn were made, and its seconds "+
			"are those of training, with the data in memory", version, ranks)
	}
	figures[1].LogX = true
	return figures, nil
}

// mllib returns the curves of MLlib.
func (j *jobs) mllib(ctx context.Context, p *problem) (curves []curve, version string, err error) {
	script := j.path("spark.py")
	if err := os.WriteFile(script, sparkScript, 0o600); err != nil {
		return nil, "", err
	}
	cmd := exec.CommandContext(ctx, sparkPython, script, j.path(p.Name+".svm"), strconv.Itoa(p.Size), number64(p.Lambda), strconv.Itoa(ranks))
	cmd.Dir = j.dir // where Spark leaves the folder of its workers
	var diag strings.Builder
	cmd.Stderr = &diag
	out, err := cmd.Output()
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, diag.String())
	}
	for row := range strings.Lines(string(out)) {
		words := strings.Split(strings.TrimSpace(row), "|")
		switch {
		case words[0] == "version" && len(words) == 2:
			version = words[1]
		case len(words) == 4:
			var m moment
			if m.rounds, err = strconv.Atoi(words[1]); err != nil {
				return nil, "", err
			}
			var e1, e2 error
			m.seconds, e1 = strconv.ParseFloat(words[2], 64)
			m.value, e2 = strconv.ParseFloat(words[3], 64)
			if err := errors.Join(e1, e2); err != nil {
				return nil, "", err
			}
			i := slices.IndexFunc(curves, func(c curve) bool { return c.name == words[0] })
			if i < 0 {
				i = len(curves)
				curves = append(curves, curve{name: words[0], about: "of 100 iterations at most"})
			}
			curves[i].points = append(curves[i].points, m)
		}
	}
	return curves, version, nil
}
