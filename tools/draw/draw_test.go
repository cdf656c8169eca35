// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const example = `# title: Objective by passes
# x: passes
# y: objective
# logy: yes
series,x,y
one rank,1,0.5
one rank,2,0.25
"8 ranks, all",1,0.1
`

// A drawing has the title, the axes and all series.
func TestDrawing(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.csv"), []byte(example), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := drawAll(dir); err != nil {
		t.Fatal(err)
	}
	svg, err := os.ReadFile(filepath.Join(dir, "a.svg"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Objective by passes", ">passes<", ">objective<", ">one rank<", ">8 ranks, all<"} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("the drawing lacks %s", want)
		}
	}
}

// Real values have marks and whole lines, simulated ones beside them only dashes. A system has the same colour in all figures.
func TestRealAndSimulated(t *testing.T) {
	const table = "# title: T\nseries,x,y\n\"%s, a\",1,1\n\"%[1]s, a\",2,2\n\"%s, b\",1,1\n\"%[2]s, b\",2,3\n"
	draw := func(text string) string {
		f, err := parse(text)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "a.svg")
		if err := f.draw(path); err != nil {
			t.Fatal(err)
		}
		svg, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(svg)
	}
	both := draw(fmt.Sprintf(table, "real", "simulated"))
	dashed := strings.Count(both, "stroke-dasharray") // the line and its legend
	marked := strings.Count(both, "fill:#0072B2")
	if dashed != 2 || marked != 2 {
		t.Errorf("got %d dashed paths and %d marks, want 2 and 2:\n%s", dashed, marked, both)
	}
	for _, names := range [][2]string{{"hybrid", "x"}, {"x", "hybrid"}} {
		svg := draw("series,x,y\n" + names[0] + ",1,1\n" + names[0] + ",2,2\n" + names[1] + ",1,1\n" + names[1] + ",2,3\n")
		if !strings.Contains(svg, "#E69F00") {
			t.Errorf("%v: the hybrid has another colour", names)
		}
	}
}

// A drawing of rows has their names, and the bars and dots of all series.
func TestDrawingOfRows(t *testing.T) {
	for kind, points := range map[string]string{
		"spans":  "waits,1,0\nwaits,2,0\nsends,2,1\nsends,3,1\n",
		"ranges": "waits,1,0\nwaits,2,0\nsends,2,1\n",
		"dots":   "waits,1,0\nsends,3,1\n",
	} {
		dir := t.TempDir()
		text := "# title: T\n# kind: " + kind + "\n# rows: rank 0|rank 1\nseries,x,y\n" + points
		if err := os.WriteFile(filepath.Join(dir, "a.csv"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := drawAll(dir); err != nil {
			t.Fatal(err)
		}
		svg, err := os.ReadFile(filepath.Join(dir, "a.svg"))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{">rank 0<", ">rank 1<", ">waits<", ">sends<"} {
			if !strings.Contains(string(svg), want) {
				t.Errorf("%s: the drawing lacks %s", kind, want)
			}
		}
	}
}

// The committed drawings are those of the committed tables.
func TestCommittedDrawings(t *testing.T) {
	const committed = "../../docs/figures"
	paths, err := filepath.Glob(filepath.Join(committed, "*.csv"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s has %d tables: %v", committed, len(paths), err)
	}
	for _, path := range paths {
		f, err := read(path)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		again := filepath.Join(t.TempDir(), "a.svg")
		if err := f.draw(again); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		got, err := os.ReadFile(again)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(strings.TrimSuffix(path, ".csv") + ".svg")
		if err != nil || string(got) != string(want) {
			t.Errorf("%s: the drawing beside it is another one (%v): go -C tools run ./draw ../docs/figures", path, err)
		}
	}
}

// A file that is not a figure is refused with its name and the line, and leaves no drawing.
func TestRefusals(t *testing.T) {
	for name, text := range map[string]string{
		"got no points":               "# title: x\nseries,x,y\n",
		"point 1: strconv.ParseFloat": "series,x,y\na,b,1\n",
		"wrong number of fields":      "series,x,y\na,1\n",
		"got 1 points, want pairs":    "# kind: spans\nseries,x,y\na,1,0\n",
		"got 3 points, want pairs":    "# kind: ranges\nseries,x,y\na,1,0\na,1,0\na,1,0\n",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "a.csv"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := drawAll(dir)
		if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "a.csv") {
			t.Errorf("got %v, want an error with a.csv and %q", err, name)
		}
		if _, err := os.Stat(filepath.Join(dir, "a.svg")); err == nil {
			t.Errorf("%s: a drawing is there", name)
		}
	}
}
