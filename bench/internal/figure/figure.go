// SPDX-License-Identifier: Apache-2.0

package figure

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Figure is a table of points with what is needed to draw it.
type Figure struct {
	Name  string // of the files, without extension
	Title string
	X, Y  string // names of the axes, with units
	LogX  bool
	LogY  bool
	Kind  string   // "": lines; dots: points; spans: each two points are a bar; ranges: dots, but each two points of the first series are a bar
	Rows  []string // names of the values 0, 1, … on the y axis; nil: numbers
	Notes string   // what was measured, how, and the results in numbers
	Alt   string   // text in place of the picture; empty: the title
	Shows string   // what the figure shows, and what it does not
	Lines []Line
	Seed  string // of random numbers; empty: there are none, or the notes name them
	Origin
}

// Line is a series of points.
type Line struct {
	Name   string
	Points []Point
}

type Point struct{ X, Y float64 }

// Add adds points to a series.
func (f *Figure) Add(name string, points ...Point) {
	i := slices.IndexFunc(f.Lines, func(l Line) bool { return l.Name == name })
	if i < 0 {
		i = len(f.Lines)
		f.Lines = append(f.Lines, Line{Name: name})
	}
	f.Lines[i].Points = append(f.Lines[i].Points, points...)
}

// Write writes DIR/NAME.csv. It replaces the file only when all is written.
func (f *Figure) Write(dir, command string) (err error) {
	path := filepath.Join(dir, f.Name+".csv")
	w, err := os.CreateTemp(dir, f.Name+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			w.Close()
			os.Remove(w.Name())
		}
	}()
	b := bufio.NewWriter(w)
	for _, field := range []struct{ key, value string }{
		{"title", f.Title},
		{"x", f.X},
		{"y", f.Y},
		{"logx", flagText(f.LogX)},
		{"logy", flagText(f.LogY)},
		{"kind", f.Kind},
		{"rows", strings.Join(f.Rows, "|")},
		{"notes", f.Notes},
		{"alt", f.Alt},
		{"shows", f.Shows},
		{"command", command},
		{"seed", f.Seed},
		{"commit", f.Commit},
		{"machine", f.Machine},
		{"date", f.Date},
	} {
		if field.value != "" {
			fmt.Fprintf(b, "# %s: %s\n", field.key, field.value)
		}
	}
	table := csv.NewWriter(b)
	table.Write([]string{"series", "x", "y"})
	for _, l := range f.Lines {
		for _, p := range l.Points {
			table.Write([]string{l.Name, strconv.FormatFloat(p.X, 'g', 6, 64), strconv.FormatFloat(p.Y, 'g', 6, 64)})
		}
	}
	table.Flush()
	if err := table.Error(); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	if err := w.Chmod(0o644); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.Rename(w.Name(), path)
}

// flagText returns the value of a header that is either "yes" or left out.
func flagText(set bool) string {
	if set {
		return "yes"
	}
	return ""
}
