// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"gonum.org/v1/plot/plotter"
)

// figure is the content of a file.
type figure struct {
	header map[string]string // title, x, y, logx, logy
	names  []string          // of the series, in their order
	series map[string]plotter.XYs
}

// read reads a file.
func read(path string) (figure, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return figure{}, err
	}
	return parse(string(text))
}

// parse parses a file: comment lines "# key: value", then the table.
func parse(text string) (figure, error) {
	f := figure{header: map[string]string{}, series: map[string]plotter.XYs{}}
	for line := range strings.Lines(text) {
		if comment, ok := strings.CutPrefix(line, "# "); ok {
			key, value, _ := strings.Cut(strings.TrimSpace(comment), ": ")
			f.header[key] = value
		}
	}
	r := csv.NewReader(strings.NewReader(text))
	r.Comment = '#'
	r.FieldsPerRecord = 3
	rows, err := r.ReadAll()
	if err != nil {
		return f, err
	}
	if len(rows) < 2 {
		return f, errors.New("got no points, want at least one")
	}
	for i, row := range rows[1:] {
		x, errX := strconv.ParseFloat(row[1], 64)
		y, errY := strconv.ParseFloat(row[2], 64)
		if err := errors.Join(errX, errY); err != nil {
			return f, fmt.Errorf("point %d: %w", i+1, err)
		}
		if _, ok := f.series[row[0]]; !ok {
			f.names = append(f.names, row[0])
		}
		f.series[row[0]] = append(f.series[row[0]], plotter.XY{X: x, Y: y})
	}
	paired := map[string][]string{"spans": f.names, "ranges": f.names[:min(1, len(f.names))]}
	if names, ok := paired[f.header["kind"]]; ok {
		for _, name := range names {
			if n := len(f.series[name]); n%2 != 0 {
				return f, fmt.Errorf("series %q: got %d points, want pairs", name, n)
			}
		}
	}
	return f, nil
}
