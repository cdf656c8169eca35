// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gvw-project/gvw/internal/compat"
	"github.com/gvw-project/gvw/internal/sampled"
)

// TestAnyOptionsAgreeWithVW draws pairs and triples of all of vw's options, with
// values that make sense and others, and compares both programs on a small text:
// whether they refuse it, predictions, table, readable model, and what each predicts
// with the other's model. gvw may refuse an option of a learner that it has not,
// unless the option changes nothing in vw. Every other difference is in
// knownDifferences.
func TestAnyOptionsAgreeWithVW(t *testing.T) {
	t.Parallel()
	realVW(t)
	const workers = 2
	sets := anySets
	if testing.Short() {
		sets /= 8
		t.Log("sampled: an eighth of the sets")
	}
	var mu sync.Mutex
	outcomes, known := map[string]int{}, map[string]bool{}
	t.Run("sets", func(t *testing.T) {
		for w := range workers {
			t.Run(fmt.Sprint(w), func(t *testing.T) {
				t.Parallel()
				c := newAnyCase(t, startForkedVW(t))
				for seed := w; seed < sets; seed += workers {
					c.units = drawAny(rand.New(rand.NewPCG(uint64(seed), 2)))
					outcome, wrong := c.check(t)
					if wrong != "" {
						outcome = "a known difference"
						if d := knownDifference(c.units); d != "" {
							mu.Lock()
							known[d] = true
							mu.Unlock()
						} else {
							outcome = "an unknown difference"
							c.shrink(t)
							_, wrong = c.check(t)
							t.Errorf("seed %d: %s\n%s", seed, c.command(), wrong)
						}
					}
					mu.Lock()
					outcomes[outcome]++
					mu.Unlock()
				}
			})
		}
	})
	for _, o := range slices.Sorted(maps.Keys(outcomes)) {
		t.Logf("%d sets: %s", outcomes[o], o)
	}
}

// TestKnownDifferencesStillDiffer runs each of the known differences: one that no longer exists
// must leave the list.
func TestKnownDifferencesStillDiffer(t *testing.T) {
	t.Parallel()
	c := newAnyCase(t, startForkedVW(t))
	for _, d := range sampled.Short(t, knownDifferences, 0, 3) {
		c.units = unitsOf(strings.Fields(d.options))
		if outcome, wrong := c.check(t); wrong == "" {
			t.Errorf("%s no longer differs (%s): take it off the list", d.options, outcome)
		}
	}
}

// difference is a permanent difference between the programs, with its reason.
type difference struct {
	options string // that show it, as a command line; in a drawn set, values may be others if values is false
	values  bool
	reason  string
}

// knownDifference returns the difference that explains the set, or "".
func knownDifference(units [][]string) string {
	units = unitsOf(slices.Concat(units...))
	for _, d := range knownDifferences {
		explains := !slices.ContainsFunc(unitsOf(strings.Fields(d.options)), func(want []string) bool {
			return !slices.ContainsFunc(units, func(got []string) bool {
				return got[0] == want[0] && (!d.values || slices.Equal(got, want))
			})
		})
		if explains {
			return d.options
		}
	}
	return ""
}

// unitsOf splits words into options with their values.
func unitsOf(words []string) (units [][]string) {
	for _, w := range words {
		if option := len(w) > 1 && w[0] == '-' && (w[1] < '0' || w[1] > '9') && w[1] != '.'; option {
			units = append(units, nil)
		}
		last := &units[len(units)-1]
		*last = append(*last, w)
	}
	return units
}

// anyCase is one command line for both programs.
type anyCase struct {
	dir   string
	vw    *forkedVW
	units [][]string // options with their values
}

// newAnyCase makes a folder with the texts.
func newAnyCase(t *testing.T, vw *forkedVW) *anyCase {
	t.Helper()
	c := &anyCase{dir: t.TempDir(), vw: vw}
	rng := rand.New(rand.NewPCG(11, 11))
	for _, kind := range []string{"sign", "class"} {
		var b strings.Builder
		for i := range 40 {
			a := rng.IntN(9)
			label := fmt.Sprint(1 - a%2*2)
			if kind == "class" {
				label = fmt.Sprint(1 + a%3)
			}
			if i%7 == 3 {
				label += " 2"
			}
			tag := ""
			if i%5 == 0 {
				tag = fmt.Sprintf("'t%d ", i)
			}
			fmt.Fprintf(&b, "%s %s|a x%d y:%.2f |b z:%d w%d |c u%d\n", label, tag, a, rng.Float64(), a%4, rng.IntN(4), rng.IntN(3))
		}
		writeFile(t, filepath.Join(c.dir, kind), b.String())
	}
	writeFile(t, filepath.Join(c.dir, "words"), "x1 d1:0.5 d2\nz d3\n")
	return c
}

func (c *anyCase) words() []string { return slices.Concat(c.units...) }

func (c *anyCase) has(option string) bool { return slices.Contains(c.words(), option) }

func (c *anyCase) command() string { return "vw -d TEXT " + strings.Join(c.words(), " ") }

func (c *anyCase) data() string {
	if c.has("--oaa") {
		return "class"
	}
	return "sign"
}

// anyRun is the output of a run.
type anyRun struct {
	code           int
	stdout, stderr string            // without lines of one program only
	talk           string            // stderr, all of it
	files          map[string]string // texts, by their extensions
}

// textFiles are the extensions of the texts that a run may write.
var textFiles = []string{".pred", ".raw", ".text", ".inv", ".metrics"}

func (c *anyCase) run(t *testing.T, who string, options []string) anyRun {
	t.Helper()
	for _, kind := range append([]string{".model", ".cache"}, textFiles...) {
		os.Remove(filepath.Join(c.dir, who+kind))
	}
	args := []string{"-d", c.data(), "-p", who + ".pred"}
	for _, o := range options {
		args = append(args, strings.ReplaceAll(o, "OWN", who))
	}
	if !slices.Contains(options, "--bit_precision") && !slices.Contains(options, "-i") {
		args = append(args, "-b", "10")
	}
	r := anyRun{files: map[string]string{}}
	var stdout string
	if strings.HasPrefix(who, "vw") {
		r.code, stdout, r.talk = c.vw.runApart(t, c.dir, args, "")
	} else {
		if c.has("--bfgs") || c.has("--conjugate_gradient") {
			args = append(args, "--bfgs_semantics", "vw9")
		}
		res := run(t, c.dir, gvwBin, args...)
		r.code, stdout, r.talk = res.code, res.stdout, res.stderr
	}
	r.stdout, r.stderr = sharedText(stdout, who), sharedText(r.talk, who)
	for _, kind := range textFiles {
		if b, err := os.ReadFile(filepath.Join(c.dir, who+kind)); err == nil {
			r.files[kind] = string(b)
		}
	}
	return r
}

// sharedText returns the output that both programs write to stdout or stderr: without lines of
// their logs, and with the same file names.
func sharedText(text, who string) string {
	lines := slices.DeleteFunc(strings.SplitAfter(text, "\n"), func(line string) bool {
		return ownLine.MatchString(line) || laterLine.MatchString(line)
	})
	return strings.ReplaceAll(strings.Join(lines, ""), who+".", "OWN.")
}

// laterLine is a line of vw's log after the first one of its message (names of learners,
// advice, or nothing), or one that gvw's note stands for.
var laterLine = regexp.MustCompile(`^(\t[\w, ]+|You can use --leave_duplicate_interactions .*|l[12]_lambda should be nonnegative: .*|\[critical\] .*)?\n$`)

// writes returns the set, and the files of models.
func (c *anyCase) writes() []string {
	return append(c.words(), "-f", "OWN.model", "--readable_model", "OWN.text")
}

// check runs the set. outcome describes how both programs ended, wrong what differs.
func (c *anyCase) check(t *testing.T) (outcome, wrong string) {
	t.Helper()
	theirs := c.run(t, "vw", c.writes())
	ours := c.run(t, "gvw", c.writes())
	diverged := (&outcomeOf{theirs}).diverged()
	switch {
	case ours.code < 0 || ours.code == 2 && strings.Contains(ours.talk, "goroutine "):
		return "", "gvw crashes:\n" + tail(ours.talk, 20)
	case theirs.code != 0 && ours.code != 0:
		return "both refuse it", ""
	case theirs.code != 0 && c.unread(theirs.talk):
		return "vw refuses an option that gvw does not read", ""
	case theirs.code != 0:
		return "", fmt.Sprintf("vw ends with %d, gvw with 0:\n%s", theirs.code, tail(theirs.talk, 2))
	case diverged && ours.code == 2:
		return "both diverge", ""
	case ours.code != 0:
		if c.lacks(t, theirs) {
			return "gvw has not the learner", ""
		}
		if c.useless() {
			return "gvw refuses a value that is of no use in vw", ""
		}
		return "", fmt.Sprintf("gvw ends with %d, vw with 0:\n%s", ours.code, tail(ours.talk, 2))
	}
	if wrong = textDiffers("stderr", ours.stderr, theirs.stderr); wrong != "" {
		return "", wrong
	}
	if wrong = textDiffers("stdout", ours.stdout, theirs.stdout); wrong != "" {
		return "", wrong
	}
	for _, kind := range textFiles {
		if wrong = textDiffers("OWN"+kind, c.comparable(kind, ours), c.comparable(kind, theirs)); wrong != "" {
			return "", wrong
		}
	}
	test := func(model string) []string { return []string{"-t", "-i", model} }
	want := c.run(t, "vw2", test("vw.model"))
	if want.code != 0 {
		return "vw does not read its own model", ""
	}
	readers := map[string]anyRun{"gvw with vw's model": c.run(t, "gvw2", test("vw.model"))}
	if !sameFiles(t, c.dir, "vw.model", "gvw.model") { // else vw would repeat its run
		readers["vw with gvw's model"] = c.run(t, "vw3", test("gvw.model"))
	}
	for what, got := range readers {
		if got.code != 0 {
			return "", fmt.Sprintf("%s ends with %d:\n%s", what, got.code, tail(got.talk, 2))
		}
		if wrong = textDiffers(what, got.files[".pred"], want.files[".pred"]); wrong != "" {
			return "", wrong
		}
	}
	return "they agree", ""
}

// unread reports whether vw refused an option, or failed to convert its value, where gvw
// accepts the option and ignores it.
func (c *anyCase) unread(talk string) bool {
	refusals := []string{"Failed to convert", "is not a valid choice", "ring_size should be", "unrecognised option"}
	return slices.ContainsFunc(refusals, func(text string) bool { return strings.Contains(talk, text) }) &&
		slices.ContainsFunc(c.units, func(u []string) bool {
			o, ok := optionOf(u)
			return ok && o.Accepted()
		})
}

// useless reports whether the table of options marks the result in vw as useless.
func (c *anyCase) useless() bool {
	given := func(option string) (values []string) {
		for _, u := range c.units {
			if u[0] == "--"+option {
				values = append(u[1:], "true")[:1]
			}
		}
		return values
	}
	return slices.ContainsFunc(compat.Judge(compat.Cases(), given, false), func(f compat.Finding) bool {
		return f.Class == compat.Refused && strings.HasSuffix(f.Text, compat.OddValue)
	})
}

// lacks reports whether the set has options that gvw refuses because it lacks their learner,
// and whether all of them change vw's result.
func (c *anyCase) lacks(t *testing.T, full anyRun) bool {
	t.Helper()
	units := c.units
	defer func() { c.units = units }()
	lacks := false
	for i, u := range units {
		o, ok := optionOf(u)
		if !ok || o.Class != compat.Refused && o.Class != compat.Later {
			continue
		}
		c.units = without(units, i, 1)
		less := c.run(t, "vw2", c.writes())
		if maps.Equal(less.files, full.files) && less.code == full.code {
			return false
		}
		lacks = true
	}
	return lacks
}

// optionOf returns the option of a unit.
func optionOf(unit []string) (compat.Option, bool) {
	return compat.Find(strings.ReplaceAll(strings.TrimPrefix(unit[0], "--"), "-", "_"))
}

// shrink leaves out options as long as the case still has an unknown difference.
func (c *anyCase) shrink(t *testing.T) {
	t.Helper()
	for at := 0; at < len(c.units); {
		units := c.units
		c.units = without(units, at, 1)
		if _, wrong := c.check(t); wrong == "" || knownDifference(c.units) != "" {
			c.units = units
			at++
		}
	}
}

type outcomeOf struct{ anyRun }

func (o *outcomeOf) diverged() bool {
	predictions := o.files[".pred"]
	return strings.Contains(predictions, "nan") || strings.Contains(predictions, "inf") ||
		regexp.MustCompile(`average loss = -?(nan|inf)`).MatchString(o.talk)
}

// comparable returns a file of a run. Of a readable model it leaves out the lines that say
// what wrote it and with which options. Sparse weights are in the order of vw's hash
// table. Models of several classes keep the sums of each, as vw's do with
// --per_model_save_load. The calls of the log are each program's own.
func (c *anyCase) comparable(kind string, r anyRun) string {
	text := strings.ReplaceAll(r.files[kind], "-nan", "nan")
	switch kind {
	case ".text", ".inv":
		return c.modelBody(text)
	case ".metrics":
		return logCalls.ReplaceAllString(text, "")
	}
	return text
}

var logCalls = regexp.MustCompile(`"total_log_calls":\d+`)

func (c *anyCase) modelBody(text string) string {
	classes := c.has("--oaa") || c.has("--per_model_save_load")
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool {
		if classes && (strings.HasPrefix(line, "norm normalizer") || strings.HasPrefix(line, "total_weight")) {
			return true
		}
		return strings.HasPrefix(line, "options:") || strings.HasPrefix(line, "Version ") || strings.HasPrefix(line, "Checksum")
	})
	if c.has("--sparse_weights") {
		slices.Sort(lines)
	}
	return strings.Join(lines, "\n")
}

// textDiffers returns where texts differ by more than numbers do that are computed in
// another order; empty: nowhere.
func textDiffers(what, got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if d, _ := distance(g[i:i+1], w[i:i+1]); !(d <= tolWeight) {
			return fmt.Sprintf("%s, line %d: %q, want %q", what, i+1, g[i], w[i])
		}
	}
	if len(g) != len(w) {
		return fmt.Sprintf("%s: %d lines, want %d", what, len(g), len(w))
	}
	return ""
}
