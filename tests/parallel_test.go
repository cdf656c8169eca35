// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// parallelLine is a command of docs/parallel.md.
var parallelLine = regexp.MustCompile(`(?m)^    ((?:python3|gvw|kmeans) .*)$`)

// The commands of docs/parallel.md have the effects that it describes, its pieces of code are those of the programs, and
// fewer than ten lines make the program in Python parallel.
func TestSerialProgramsGoParallel(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	doc := readFile(t, filepath.Join(root, "docs", "parallel.md"))
	python := readFile(t, filepath.Join(root, "examples", "logreg", "logreg.py"))
	golang := readFile(t, filepath.Join(root, "examples", "kmeans", "main.go"))
	flat := func(text string) string {
		return strings.Join(strings.Fields(strings.ReplaceAll(text, "# parallel", "")), " ")
	}
	for _, m := range regexp.MustCompile("(?ms)^ *```(python|go)\n(.*?)^ *```$").FindAllStringSubmatch(doc, -1) {
		program := map[string]string{"python": python, "go": golang}[m[1]]
		if !strings.Contains(flat(program), flat(m[2])) {
			t.Errorf("the program in %s no longer has the lines of docs/parallel.md:\n%s", m[1], m[2])
		}
	}
	if n := strings.Count(python, "# parallel\n"); n > 10 || !strings.Contains(doc, "Nine of its lines") || n != 9 {
		t.Errorf("%d lines make logreg.py parallel, the document counts nine", n)
	}
	if _, err := exec.LookPath("python3"); err != nil {
		if os.Getenv("REQUIRE_ALL") == "1" {
			t.Fatal("REQUIRE_ALL=1, and there is no python3 for the commands of docs/parallel.md")
		}
		t.Skip("needs a python3 for the commands of docs/parallel.md; its pieces of code are checked")
	}
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "logreg.py"), python)
	writeParallelData(t, dir)
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "kmeans"), "./examples/kmeans")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	path := []string{"PATH=" + filepath.Dir(gvwBin) + string(os.PathListSeparator) + dir + string(os.PathListSeparator) + os.Getenv("PATH")}
	outputs := map[string][]string{} // by program
	for _, m := range parallelLine.FindAllStringSubmatch(doc, -1) {
		r := startWith(t, dir, nil, path, "sh", "-e", "-c", m[1]).wait()
		if r.code != 0 {
			t.Fatalf("%s: exit code %d\n%s", m[1], r.code, r.stderr)
		}
		name := regexp.MustCompile(`logreg|kmeans`).FindString(m[1])
		outputs[name] = append(outputs[name], r.stdout)
	}
	if out := outputs["kmeans"]; len(out) != 2 || out[0] != out[1] || strings.Count(out[0], "\n") != 3 {
		t.Errorf("clusters: got %q, want the same three of one process and of four ranks", out)
	}
	var accuracy []float64
	for _, out := range outputs["logreg"] {
		fields := strings.Fields(out)
		x, err := strconv.ParseFloat(fields[len(fields)-1], 64)
		if err != nil {
			t.Fatalf("%q: %v", out, err)
		}
		accuracy = append(accuracy, x)
	}
	if len(accuracy) != 2 || accuracy[0] < 0.9 || accuracy[1] < accuracy[0]-0.02 {
		t.Errorf("accuracy of one process and of four ranks: got %v, want at least 0.9 and as much", accuracy)
	}
}

// writeParallelData writes the examples and the points of docs/parallel.md.
func writeParallelData(t *testing.T, dir string) {
	rng := rand.New(rand.NewPCG(1, 2))
	var examples, points strings.Builder
	for range 1500 {
		score, line := 0.5*rng.NormFloat64(), ""
		for _, w := range []float64{1, -2, 3, 0.5} {
			x := rng.NormFloat64()
			score += w * x
			line += fmt.Sprintf(" %.3f", x)
		}
		class := 0
		if score > 0 {
			class = 1
		}
		fmt.Fprintf(&examples, "%d%s\n", class, line)
	}
	for i := range 300 {
		center := [][2]float64{{0, 0}, {10, 0}, {0, 10}}[i%3]
		fmt.Fprintf(&points, "%.3f %.3f\n", center[0]+rng.NormFloat64(), center[1]+rng.NormFloat64())
	}
	writeFile(t, filepath.Join(dir, "examples.txt"), examples.String())
	writeFile(t, filepath.Join(dir, "points.txt"), points.String())
}
