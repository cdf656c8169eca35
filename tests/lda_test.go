// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// tolTopics is the bar of the recorded outputs of --lda: the distance of two vectors of topics,
// relative to the length of vw's, by the sum of absolute values. A document may need an iteration
// more or less than in vw, which moves its topics by up to --lda_epsilon, 1e-3.
const tolTopics = 1e-3

// ldaCase is a recorded case of vw 9.11.9 on the documents of docs.vw.
type ldaCase struct{ name, options string }

func ldaCases(t *testing.T) (cases []ldaCase) {
	for line := range strings.Lines(readFile(t, "testdata/lda/INDEX.tsv")) {
		name, options, _ := strings.Cut(strings.TrimSpace(line), "\t")
		cases = append(cases, ldaCase{name, options})
	}
	if len(cases) < 4 {
		t.Fatalf("got %d recorded cases, want 4: is testdata whole?", len(cases))
	}
	return cases
}

// recorded returns one of vw's files.
func (c *ldaCase) recorded(t *testing.T, kind string) string {
	return readFile(t, filepath.Join("testdata", "lda", c.name+"."+kind+".gz"))
}

// TestLDAGolden compares the learning of topics with recorded outputs of vw: losses, the topics of
// each document, the model and its text, and the topics of documents by vw's model.
func TestLDAGolden(t *testing.T) {
	t.Parallel()
	for _, c := range ldaCases(t) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "docs.vw"), readFile(t, "testdata/lda/docs.vw.gz"))
			writeFile(t, filepath.Join(dir, "theirs"), c.recorded(t, "model"))
			got := gvw(t, dir, strings.Fields("-d docs.vw -f m --readable_model rm -p train.pred "+c.options)...)
			gvw(t, dir, strings.Fields("-d docs.vw -t -i theirs -p test.pred --quiet")...)
			read := func(name string) string { return readFile(t, filepath.Join(dir, name)) }

			compareTopics(t, "train.pred", read("train.pred"), c.recorded(t, "train.pred"))
			compareTopics(t, "test.pred", read("test.pred"), c.recorded(t, "test.pred"))
			head, rows := ldaText(read("rm"))
			wantHead, wantRows := ldaText(c.recorded(t, "rm"))
			if head != wantHead {
				t.Errorf("header of the readable model: got\n%swant\n%s", head, wantHead)
			}
			compareTopics(t, "rm", rows, wantRows)
			// The binary models differ in the numbers only.
			model, want := read("m"), c.recorded(t, "model")
			if k := strings.Count(strings.SplitN(rows, "\n", 2)[0], " ") - 1; len(model) != len(want) {
				t.Errorf("the model has %d bytes, want %d", len(model), len(want))
			} else if n := len(want) - 512*(8+4*k); model[:n] != want[:n] {
				t.Errorf("header of the model: got %q, want %q", model[:n], want[:n])
			}
			compareLDALosses(t, got.stderr, c.recorded(t, "stderr"))
		})
	}
}

// TestLDAModelsInVW reads gvw's models of topics by the real vw.
func TestLDAModelsInVW(t *testing.T) {
	t.Parallel()
	vw := realVW(t)
	for _, c := range ldaCases(t) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "docs.vw"), readFile(t, "testdata/lda/docs.vw.gz"))
			gvw(t, dir, strings.Fields("-d docs.vw -f m --quiet "+c.options)...)
			// vw also learns with -t, but only after the first batch.
			realRun(t, dir, vw, strings.Fields("-d docs.vw -t -i m --minibatch 96 -p pred --quiet")...)
			compareTopics(t, "vw's predictions", readFile(t, filepath.Join(dir, "pred")), c.recorded(t, "test.pred"))
		})
	}
}

// ldaText splits a readable model into the header and the rows of the words.
func ldaText(text string) (head, rows string) {
	i := strings.Index(text, "Checksum: ")
	i += strings.IndexByte(text[i:], '\n') + 1
	return text[:i], text[i:]
}

// compareTopics compares the vectors of two texts line by line. Words that are no numbers are equal.
func compareTopics(t *testing.T, what, got, want string) {
	t.Helper()
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	if len(g) != len(w) {
		t.Errorf("%s: got %d lines, want %d", what, len(g), len(w))
		return
	}
	for i := range w {
		gf, wf := strings.Fields(g[i]), strings.Fields(w[i])
		apart, length := 0.0, 0.0
		for j := range min(len(gf), len(wf)) {
			x, err1 := strconv.ParseFloat(gf[j], 64)
			y, err2 := strconv.ParseFloat(wf[j], 64)
			if err1 != nil || err2 != nil {
				if gf[j] != wf[j] {
					t.Errorf("%s: line %d: got %q, want %q", what, i+1, gf[j], wf[j])
				}
				continue
			}
			apart += math.Abs(x - y)
			length += math.Abs(y)
		}
		if len(gf) != len(wf) || apart > tolTopics*length {
			t.Errorf("%s: line %d: got %q, want %q", what, i+1, g[i], w[i])
		}
	}
}

// compareLDALosses compares the rows of the table, and the sum of the losses. vw counts the last
// batch of a pass twice in the summary.
func compareLDALosses(t *testing.T, got, want string) {
	t.Helper()
	isRow := func(line string) bool { return !strings.Contains(line, " = ") }
	rows := func(text string) (rows []string) {
		for _, line := range tableLines(text) {
			if isRow(line) {
				rows = append(rows, line)
			}
		}
		return rows
	}
	g, w := rows(got), rows(want)
	if len(g) != len(w) || len(w) < 2 {
		t.Errorf("table: got %d rows, want %d\n%s", len(g), len(w), got)
		return
	}
	for i := range w {
		compareLine(t, g[i], w[i], func(int) float64 { return tolTable })
	}
	sum := func(text string) float64 {
		value := func(name string) float64 {
			i := slices.IndexFunc(tableLines(text), func(line string) bool { return strings.HasPrefix(line, name+" = ") })
			if i < 0 {
				t.Fatalf("no %s in\n%s", name, text)
			}
			v, err := strconv.ParseFloat(strings.TrimPrefix(tableLines(text)[i], name+" = "), 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		return value("average loss") * value("weighted example sum")
	}
	if g, w := sum(got), sum(want); !near(g, w, tolTable) {
		t.Errorf("sum of the losses: got %v, want %v", g, w)
	}
}
