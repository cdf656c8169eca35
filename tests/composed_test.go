// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"path/filepath"
	"strings"
	"testing"
)

// composedCase is a case of vw's learners that are composed of linear ones. Its predictions,
// of training and of a test by vw's model, and that model were recorded with vw 9.11.9:
//
//	vw -d DATA OPTIONS -p train.pred -f model --quiet
//	vw -d DATA -t -i model UNKEPT -p test.pred --quiet
//
// DATA are the first 200 lines of a text of testdata/golden.
type composedCase struct{ name, data, options, unkept string }

// tolComposed is the distance of a prediction from vw's.
const tolComposed = 1e-4

func composedCases(t *testing.T) (cases []composedCase) {
	for line := range strings.Lines(readFile(t, "testdata/composed/INDEX.tsv")) {
		f := append(strings.Split(strings.TrimSuffix(line, "\n"), "\t"), "")
		cases = append(cases, composedCase{f[0], f[1], f[2], f[3]})
	}
	return cases
}

// learnerOf returns the name of the learner.
func learnerOf(c composedCase) string {
	learner, _, _ := strings.Cut(c.name, "-")
	return learner
}

// folder returns a folder with the data of the case.
func (c *composedCase) folder(t *testing.T) string {
	dir := t.TempDir()
	lines := strings.SplitAfterN(readFile(t, filepath.Join("testdata", "golden", c.data+".vw.gz")), "\n", 201)
	writeFile(t, filepath.Join(dir, "data"), strings.Join(lines[:200], ""))
	return dir
}

// train returns the options of the recorded training.
func (c *composedCase) train(model string) []string {
	return append(strings.Fields("-d data --quiet -p train.pred -f "+model), strings.Fields(c.options)...)
}

// test returns the options of a test by a model.
func (c *composedCase) test(model, out string) []string {
	return append(strings.Fields("-d data -t --quiet -i "+model+" -p "+out), strings.Fields(c.unkept)...)
}

// compare compares predictions, which may be lists of classes.
func (c *composedCase) compare(t *testing.T, got, want string, tol float64) {
	t.Helper()
	if c.data == "lists" {
		sameWords(t, "predictions", got, want)
		return
	}
	comparePredictionsTo(t, got, want, tol)
}

// TestComposedLearnersGolden compares composed learners with recorded predictions of vw.
func TestComposedLearnersGolden(t *testing.T) {
	t.Parallel()
	for _, c := range composedCases(t) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			recorded := func(kind string) string {
				return readFile(t, filepath.Join("testdata", "composed", c.name+"."+kind+".gz"))
			}
			dir := c.folder(t)
			writeFile(t, filepath.Join(dir, "theirs"), recorded("model"))
			gvw(t, dir, c.train("m")...)
			gvw(t, dir, c.test("theirs", "theirs.pred")...)
			gvw(t, dir, c.test("m", "own.pred")...)
			c.compare(t, readFile(t, filepath.Join(dir, "train.pred")), recorded("train"), tolComposed)
			c.compare(t, readFile(t, filepath.Join(dir, "theirs.pred")), recorded("test"), tolComposed)
			c.compare(t, readFile(t, filepath.Join(dir, "own.pred")), recorded("test"), tolComposed)
		})
	}
}

// Of an example with three namespaces --lrqfa takes other weights in its second update than in its
// formula, as vw 9.11.9 does, from which the predictions are.
func TestThreeNamespacesHaveVWsWeights(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	three := "1 |a x |b y |c z\n-1 |a x |b w |c z\n1 |a u |b y |c z\n"
	writeFile(t, filepath.Join(dir, "data"), three+three)
	for option, want := range map[string]string{
		"abc1": "0\n0.428836\n-0.009070\n0.389198\n-0.249867\n0.968581\n",
		"bca2": "0\n0.487396\n-1\n-1\n0.292155\n0.873164\n",
	} {
		gvw(t, dir, "-d", "data", "--lrqfa", option, "-p", option, "--quiet")
		comparePredictionsTo(t, readFile(t, filepath.Join(dir, option)), want, tolComposed)
	}
}

// --rank and --new_mf factorise the pairs that vw 9.11.9 does, in its order: sorted, and of pairs of the same namespaces the
// first one, unless all are kept. The predictions are vw's.
func TestFactorisedPairsAreVWs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	three := "1 |a x y:2 |b u v:0.5 |c z\n-1 |a x w |b u |c z q:3\n1 |a y |b v:2 u |c r\n"
	writeFile(t, filepath.Join(dir, "data"), three+three)
	for _, c := range []struct{ options, want string }{
		{"--rank 2 -q ab -q aa", "0.449272\n1\n-0.746262\n1\n-1\n1\n"},
		{"--rank 2 -q ac -q ab", "0.395231\n1\n-0.517438\n1\n-1\n1\n"},
		{"--rank 2 -q ab -q ba", "0.380924\n1\n-0.441550\n1\n-1\n1\n"},
		{`--rank 2 -q \x61b`, "0.380924\n1\n-0.441550\n1\n-1\n1\n"},
		{"--rank 2 -q ba -q ab --leave_duplicate_interactions", "0.421562\n1\n-0.663780\n1\n-1\n1\n"},
		{"--new_mf 2 -q ab -q aa", "0\n0.642730\n0.477773\n-1\n1\n1\n"},
		{"--new_mf 2 -q ac -q ab", "0\n1\n0.484948\n-1\n1\n1\n"},
		{"--new_mf 2 -q ab -q ba", "0\n0.645096\n0.536331\n1\n1\n0.401151\n"},
		{`--new_mf 2 -q \x61b`, "0\n0.645096\n0.536331\n1\n1\n0.401151\n"},
		{"--new_mf 2 -q ba -q ab --leave_duplicate_interactions", "0\n0.610786\n0.329574\n0.576735\n1\n1\n"},
	} {
		gvw(t, dir, append(strings.Fields("-d data --quiet -p pred"), strings.Fields(c.options)...)...)
		t.Log(c.options)
		comparePredictionsTo(t, readFile(t, filepath.Join(dir, "pred")), c.want, tolComposed)
	}
}

// TestComposedModelsGoBothWays reads gvw's models by the real vw, and continues the training of
// either program with the other.
func TestComposedModelsGoBothWays(t *testing.T) {
	t.Parallel()
	vw := realVW(t)
	for _, c := range oneOfEach(t, composedCases(t), learnerOf) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := c.folder(t)
			read := func(name string) string { return readFile(t, filepath.Join(dir, name)) }
			gvw(t, dir, c.train("ours")...)
			realRun(t, dir, vw, c.train("theirs")...)
			realRun(t, dir, vw, c.test("theirs", "tt")...)
			realRun(t, dir, vw, c.test("ours", "ot")...)
			c.compare(t, read("ot"), read("tt"), tolComposed)

			again := func(from, to string) []string {
				return append(strings.Fields("-d data --quiet -i "+from+" -f "+to), strings.Fields(c.unkept)...)
			}
			gvw(t, dir, again("theirs", "theirs+ours")...)
			realRun(t, dir, vw, again("ours", "ours+theirs")...)
			realRun(t, dir, vw, again("theirs", "theirs+theirs")...)
			for _, model := range []string{"theirs+ours", "ours+theirs", "theirs+theirs"} {
				realRun(t, dir, vw, c.test(model, model+".pred")...)
			}
			c.compare(t, read("theirs+ours.pred"), read("theirs+theirs.pred"), 1e-3)
			c.compare(t, read("ours+theirs.pred"), read("theirs+theirs.pred"), 1e-3)
		})
	}
}

// The commands of docs/vw-learners.md, run in order, succeed.
func TestPageOfComposedLearners(t *testing.T) {
	t.Parallel()
	page := openPage(t, "vw-learners.md")
	commands := page.commands()
	if len(commands) < 4 {
		t.Fatalf("got %d commands, want 4 at least: does the page still indent them by four blanks?", len(commands))
	}
	for _, line := range commands {
		page.shell(t, line)
	}
}
