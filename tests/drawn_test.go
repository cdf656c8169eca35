// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const (
	drawnLines   = 60
	composedSeed = 480  // the least seed of a set of composed learners; those of linear ones are below
	stable       = 1e-5 // how far vw's own predictions may move when features are permuted
)

// TestDrawnOptionsAgreeWithVW draws option sets and texts, and compares what both
// programs predict while they learn, and with each other's models. A set counts
// only if vw's own predictions hardly move when the features of each line are
// permuted: where they do, the last bit decides, and agreement means nothing.
func TestDrawnOptionsAgreeWithVW(t *testing.T) {
	t.Parallel()
	realVW(t)
	const workers = 2
	sets, more, least := drawnSets, drawnMore, drawnCount
	if testing.Short() {
		sets, more, least = sets/8, more/8, least/8
		t.Log("sampled: an eighth of the sets")
	}
	var mu sync.Mutex
	counted, skipped := 0, map[string]int{}
	t.Run("sets", func(t *testing.T) {
		for w := range workers {
			t.Run(fmt.Sprint(w), func(t *testing.T) {
				t.Parallel()
				c := &drawnCase{dir: t.TempDir(), vw: startForkedVW(t)}
				for n := w; n < sets+more; n += workers {
					seed := n
					if n >= sets {
						seed += composedSeed - sets
					}
					c.draw(uint64(seed))
					why, wrong := c.check(t)
					if wrong != "" && seed >= composedSeed && c.trembles(t) {
						why, wrong = "vw's predictions depend on the last bits of the learning rate", ""
					}
					mu.Lock()
					if why == "" {
						counted++
					} else {
						skipped[why]++
					}
					mu.Unlock()
					if wrong != "" {
						t.Errorf("seed %d: %s\n%s", seed, wrong, c.shrink(t))
					}
				}
			})
		}
	})
	for _, why := range slices.Sorted(maps.Keys(skipped)) {
		t.Logf("%d sets do not count: %s", skipped[why], why)
	}
	t.Logf("%d of %d sets count", counted, sets+more)
	if counted < least && !t.Failed() {
		t.Errorf("%d of %d sets count, want %d", counted, sets+more, least)
	}
}

// drawnCase is one option set on one text.
type drawnCase struct {
	dir   string
	vw    *forkedVW
	set   optionSet
	lines []string // with their ends
	other []string // permuted
}

func (c *drawnCase) draw(seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	if c.set = drawOptions(rng); seed >= composedSeed {
		c.set = drawComposed(rng)
	}
	text, permuted := drawText(rng, drawnLines, c.set.kind)
	c.lines, c.other = strings.SplitAfter(text, "\n"), strings.SplitAfter(permuted, "\n")
}

// check runs the set. why gives the reason if the set does not count, wrong the difference.
func (c *drawnCase) check(t *testing.T) (why, wrong string) {
	t.Helper()
	for name, lines := range map[string][]string{"text": c.lines, "permuted": c.other} {
		writeFile(t, filepath.Join(c.dir, name), strings.Join(lines, ""))
	}
	options, predicting := c.set.words()
	theirs := c.runVW(t, "theirs", "text", append(slices.Clone(options), "-f", "theirs.model"))
	ours := c.runGVW(t, "ours", "text", append(slices.Clone(options), "-f", "ours.model"))
	switch {
	case theirs.code != 0 && ours.code != 0:
		return "vw refuses it", ""
	case theirs.code != 0:
		return "", fmt.Sprintf("vw ends with %d, gvw with 0:\n%s", theirs.code, tail(theirs.talk, 3))
	case theirs.diverged():
		if ours.code != 2 {
			return "", fmt.Sprintf("vw diverges, gvw ends with %d, not 2", ours.code)
		}
		return "it diverges", ""
	case ours.code != 0:
		return "", fmt.Sprintf("gvw ends with %d:\n%s", ours.code, tail(ours.talk, 3))
	}
	moved := c.runVW(t, "moved", "permuted", options)
	if d, _ := distance(moved.predictions, theirs.predictions); !(d < stable) {
		why = "vw's predictions depend on the order of features"
		if !c.set.ordered() {
			return why, ""
		}
		why = "its options depend on the order of features"
	}
	if wrong = differs("while learning", ours.predictions, theirs.predictions); wrong != "" {
		return why, wrong
	}
	test := func(model string) []string { return append(slices.Clone(predicting), "-t", "-i", model) }
	want := c.runVW(t, "tt", "text", test("theirs.model"))
	if want.code != 0 {
		return "vw cannot predict with its own model", ""
	}
	readers := []reader{{"gvw reads vw's model", c.runGVW(t, "tg", "text", test("theirs.model"))}}
	if !sameFiles(t, c.dir, "theirs.model", "ours.model") { // else these runs would repeat others
		readers = append(
			readers,
			reader{"vw reads gvw's model", c.runVW(t, "gt", "text", test("ours.model"))},
			reader{"gvw reads gvw's model", c.runGVW(t, "gg", "text", test("ours.model"))},
		)
	}
	for _, r := range readers {
		if r.got.code != want.code {
			return why, fmt.Sprintf("%s: it ends with %d, want %d:\n%s", r.what, r.got.code, want.code, tail(r.got.talk, 3))
		}
		if wrong = differs(r.what, r.got.predictions, want.predictions); wrong != "" {
			return why, wrong
		}
	}
	return why, ""
}

// trembles reports whether vw's own predictions, also those of its model, move if the learning rate
// grows by a millionth: they are then sums of steps that cancel each other, and rounding decides.
func (c *drawnCase) trembles(t *testing.T) bool {
	t.Helper()
	options, predicting := c.set.words()
	rate := 0.5
	if i := slices.Index(options, "-l"); i >= 0 {
		if _, err := fmt.Sscan(options[i+1], &rate); err != nil {
			t.Fatal(err)
		}
		options = without(options, i, 2)
	} else if !c.set.has("--normalized") && (c.set.has("--adaptive") || c.set.has("--adax")) {
		rate = 10 // vw's default for these rules
	}
	var all [2][]string
	for i, r := range []float64{rate, rate * (1 + 1e-6)} {
		trained := c.runVW(t, "moved", "text", append(slices.Clone(options), "-l", fmt.Sprint(r), "-f", "moved.model"))
		tested := c.runVW(t, "tt", "text", append(slices.Clone(predicting), "-t", "-i", "moved.model"))
		all[i] = append(trained.predictions, tested.predictions...)
	}
	d, _ := distance(all[1], all[0])
	return !(d < tolWeight)
}

// reader is a run with a model.
type reader struct {
	what string
	got  outcome
}

// sameFiles reports whether two files of a folder have the same bytes.
func sameFiles(t *testing.T, dir, a, b string) bool {
	t.Helper()
	return readFile(t, filepath.Join(dir, a)) == readFile(t, filepath.Join(dir, b))
}

// outcome is the result of a run.
type outcome struct {
	code        int
	talk        string
	predictions []string
}

// diverged reports whether a prediction or the average loss is not finite.
func (o *outcome) diverged() bool {
	for _, p := range o.predictions {
		if strings.Contains(p, "nan") || strings.Contains(p, "inf") {
			return true
		}
	}
	_, loss, _ := strings.Cut(o.talk, "average loss = ")
	return strings.HasPrefix(loss, "nan") || strings.HasPrefix(loss, "-nan") || strings.HasPrefix(loss, "inf")
}

func (c *drawnCase) arguments(name, data string, options []string) []string {
	args := []string{"-d", data, "-p", name + ".pred"}
	for _, o := range options {
		if o == "CACHE" {
			o = name + ".cache"
		}
		args = append(args, o)
	}
	return args
}

func (c *drawnCase) runVW(t *testing.T, name, data string, options []string) outcome {
	t.Helper()
	c.forget(name)
	code, talk := c.vw.run(t, c.dir, c.arguments(name, data, options))
	return c.outcome(name, code, talk)
}

func (c *drawnCase) runGVW(t *testing.T, name, data string, options []string) outcome {
	t.Helper()
	c.forget(name)
	r := run(t, c.dir, gvwBin, c.arguments(name, data, options)...)
	return c.outcome(name, r.code, r.stderr)
}

// forget removes the output of an earlier run of the name.
func (c *drawnCase) forget(name string) {
	for _, kind := range []string{".pred", ".cache", ".model"} {
		os.Remove(filepath.Join(c.dir, name+kind))
	}
}

func (c *drawnCase) outcome(name string, code int, talk string) outcome {
	text, err := os.ReadFile(filepath.Join(c.dir, name+".pred"))
	if err != nil {
		return outcome{code: code, talk: talk}
	}
	return outcome{code: code, talk: talk, predictions: strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")}
}

// distance returns the largest distance between predictions, absolute or relative, whichever is
// less, and its line; infinite if the lines differ in number or tags.
func distance(got, want []string) (most float64, line int) {
	if len(got) != len(want) {
		return math.Inf(1), min(len(got), len(want))
	}
	for i := range got {
		a, b := tokens(got[i]), tokens(want[i])
		if len(a) != len(b) {
			return math.Inf(1), i
		}
		for k := range a {
			if a[k] == b[k] {
				continue
			}
			var x, y float64
			if n, _ := fmt.Sscan(a[k], &x); n == 0 {
				return math.Inf(1), i
			}
			if n, _ := fmt.Sscan(b[k], &y); n == 0 {
				return math.Inf(1), i
			}
			if d := math.Abs(x-y) / max(1, math.Abs(y)); !(d <= most) {
				most, line = d, i
			}
		}
	}
	return most, line
}

// tokens returns the numbers and the tag of a line: "0.5 tag", "1:0.2 2:0.8 tag".
func tokens(line string) []string {
	return strings.FieldsFunc(line, func(c rune) bool { return c == ' ' || c == ':' })
}

func differs(what string, got, want []string) string {
	d, i := distance(got, want)
	switch {
	case d <= tolWeight:
		return ""
	case len(got) != len(want):
		return fmt.Sprintf("%s: %d predictions, want %d", what, len(got), len(want))
	}
	return fmt.Sprintf("%s: prediction %d is %q, want %q", what, i+1, got[i], want[i])
}

// shrink leaves out options and lines as long as the case still fails, and returns
// the command and the text that remain.
func (c *drawnCase) shrink(t *testing.T) string {
	t.Helper()
	fails := func() bool {
		_, wrong := c.check(t)
		return wrong != ""
	}
	for size := len(c.lines) / 2; size > 0; size /= 2 {
		for at := 0; at+size <= len(c.lines); {
			lines, other := c.lines, c.other
			c.lines, c.other = without(lines, at, size), without(other, at, size)
			if !fails() {
				c.lines, c.other = lines, other
				at += size
			}
		}
	}
	for at := 0; at < len(c.set.units); {
		units := c.set.units
		c.set.units = without(units, at, 1)
		if !fails() {
			c.set.units = units
			at++
		}
	}
	_, wrong := c.check(t)
	options, _ := c.set.words()
	return fmt.Sprintf("smallest: %s\n-d TEXT %s\n%s", wrong, strings.Join(options, " "), strings.Join(c.lines, ""))
}

func without[T any](s []T, at, n int) []T {
	return slices.Concat(s[:at], s[at+n:])
}
