// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The files of objectives by rounds, and the figure with the rounds to the goal in each of them.
const (
	roundsPrefix = "averaging-rounds-"
	roundsName   = "averaging-rounds"
)

// roundsTable writes the figure with the first round of each system at which the objective is near the optimum, by the
// figures of a directory. Without any it writes nothing.
func roundsTable(dir string) error {
	paths, err := filepath.Glob(filepath.Join(dir, roundsPrefix+"*.csv"))
	if err != nil || len(paths) == 0 {
		return err
	}
	f := figure{
		Name: roundsName, Title: fmt.Sprintf("Rounds to %g above the optimum", near), Kind: "dots", X: "rounds", LogX: true,
		Notes: fmt.Sprintf("%d ranks; rounds of a batch solver are the vectors that were all-reduced; the first points of the figures by rounds", ranks),
	}
	for row, path := range paths {
		f.Rows = append(f.Rows, strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), roundsPrefix), ".csv"))
		lines, err := readLines(path)
		if err != nil {
			return err
		}
		for _, l := range lines {
			if i := slices.IndexFunc(l.Points, func(p point) bool { return p.Y <= near }); i >= 0 {
				f.add(l.Name, point{l.Points[i].X, float64(row)})
			}
		}
	}
	return f.write(dir, "go run ./bench/figures -only averaging -data DIR")
}

// readLines reads the series of a file.
func readLines(path string) ([]line, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := csv.NewReader(strings.NewReader(string(text)))
	r.Comment, r.FieldsPerRecord = '#', 3
	rows, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var f figure
	for _, row := range rows[1:] {
		x, _ := strconv.ParseFloat(row[1], 64) // written by this package
		y, _ := strconv.ParseFloat(row[2], 64)
		f.add(row[0], point{x, y})
	}
	return f.Lines, nil
}

// markdown returns the points of a figure of rows as a table.
func (f *figure) markdown() string {
	var b strings.Builder
	b.WriteString("| |")
	for _, l := range f.Lines {
		b.WriteString(" " + l.Name + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("--:|", len(f.Lines)) + "\n")
	for row, name := range f.Rows {
		b.WriteString("| " + name + " |")
		for _, l := range f.Lines {
			text := "not reached"
			if i := slices.IndexFunc(l.Points, func(p point) bool { return p.Y == float64(row) }); i >= 0 {
				text = strconv.FormatFloat(l.Points[i].X, 'f', -1, 64)
			}
			b.WriteString(" " + text + " |")
		}
		b.WriteByte('\n')
	}
	return b.String()
}
