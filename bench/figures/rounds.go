// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	fig "github.com/gvw-project/gvw/bench/internal/figure"
)

// The files of objectives by rounds, and the figure with the rounds to the goal in each of them.
const (
	roundsPrefix = "averaging-rounds-"
	roundsName   = "averaging-rounds"
)

// roundsTable writes the figure with the first round of each system at which the objective is near the optimum, by the
// figures of a directory. Its origin is that of the figure that was measured last. Without any figure it writes nothing.
func roundsTable(dir string) error {
	paths, err := filepath.Glob(filepath.Join(dir, roundsPrefix+"*.csv"))
	if err != nil || len(paths) == 0 {
		return err
	}
	f := figure{
		Name: roundsName, Title: fmt.Sprintf("Rounds to %g above the optimum", near), Kind: "dots", X: "rounds", LogX: true,
		Notes: fmt.Sprintf("%d ranks; rounds of a batch solver are the vectors that were all-reduced; the first points of the figures by rounds", ranks),
	}
	// MLlib is measured on one set only, which has a figure without it.
	paths = slices.DeleteFunc(paths, func(path string) bool { return strings.HasSuffix(path, "-mllib.csv") })
	for row, path := range paths {
		f.Rows = append(f.Rows, strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), roundsPrefix), ".csv"))
		lines, err := fig.ReadLines(path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if h := fig.Header(string(text)); h["date"] > f.Date {
			f.Origin = fig.Origin{Commit: h["commit"], Machine: h["machine"], Date: h["date"]}
		}
		for _, l := range lines {
			if i := slices.IndexFunc(l.Points, func(p point) bool { return p.Y <= near }); i >= 0 {
				f.Add(l.Name, point{X: l.Points[i].X, Y: float64(row)})
			}
		}
	}
	return f.Write(dir, "go run ./bench/figures -only averaging -data DIR")
}
