// SPDX-License-Identifier: Apache-2.0

package search

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/internal/flags"
	"github.com/gvw-project/gvw/internal/search/strategy"
	"github.com/gvw-project/gvw/internal/train"
)

// base is the command that trials vary.
type base struct {
	launcher []string // "run", its options, "--"; empty: gvw without a command
	learner  *cli.Settings
}

// trialFiles are the options of files that only the final training writes.
var trialFiles = slices.Concat(files.OnceFiles, []string{"predictions", "raw_predictions", "invert_hash", "extra_metrics", "timeline", "record"})

// readBase parses the command after the "--": the learner's options, or run -n N -- and these.
func readBase(p *cli.Process, t *cli.Table, words []string) (*base, error) {
	b := &base{}
	if len(words) > 0 && words[0] == "run" {
		end := slices.Index(words, "--")
		if end < 0 {
			return nil, cli.Usagef("the learner's options come after the -- of gvw run, as in: gvw search --space ... -- run -n 2 -- -d train.vw")
		}
		b.launcher, words = words[:end+1], words[end+1:]
	}
	s, err := cli.Parse(t.Learner, words, p.Env, os.ReadFile)
	if err != nil {
		return nil, err
	}
	train.TakeData(p, s)
	b.learner = s
	for _, name := range []string{"help", "version", "args", "daemon", "port", "pid_file", "span_server", "testonly", "audit", "dry_run", "checkpoint", "save_per_pass"} {
		if s.Has(name) {
			return nil, cli.Usagef("--%s has no place in a search", name)
		}
	}
	for _, name := range trialFiles {
		if value := s.Get(name); slices.Contains(files.StdoutNames, value) {
			return nil, cli.Usagef("--%s %s: stdout has the table of a search: give a file", name, value)
		}
	}
	if !s.Has("data") {
		return nil, cli.Usagef("gvw search: -d is missing after --: each trial reads the examples")
	}
	for _, name := range slices.Concat(s.All("data"), s.All("valid")) {
		if info, err := os.Stat(name); slices.Contains(files.StdinNames, name) || err == nil && !info.Mode().IsRegular() && !info.IsDir() {
			return nil, cli.Usagef("%s can be read only once, and each trial reads it: give a file", name)
		}
	}
	return b, nil
}

// spec finds an option of the learner by its name, alias or letter.
func (b *base) spec(name string) *cli.Spec {
	for _, s := range b.learner.Flags.Specs {
		if s.Name == name || s.Alias == name || s.Short == name {
			return s
		}
	}
	return nil
}

// resolve replaces the names in the space by the long names of options, and checks the values.
func (b *base) resolve(space strategy.Space) error {
	for i := range space {
		d := &space[i]
		s := b.spec(d.Name)
		switch {
		case s == nil:
			return cli.Usagef("--space %s: the learner has no option of this name: see gvw --help all", d.Name)
		case slices.Contains(trialFiles, s.Name) || slices.Contains([]string{"data", "valid", "cache", "cache_file"}, s.Name):
			return cli.Usagef("--space %s: it names a file, which is the same for all trials", d.Name)
		case b.learner.Has(s.Name):
			return cli.Usagef("--%s is %s after --, and --space varies it: give it once", s.Name, b.learner.Get(s.Name))
		case slices.ContainsFunc(space[:i], func(o strategy.Dimension) bool { return o.Name == s.Name }):
			return cli.Usagef("--space: --%s is twice in it", s.Name)
		}
		d.Name = s.Name
		values := d.Choices
		if d.Scale != strategy.Choice {
			values = []string{d.At(0), d.At(1)}
			if s.Kind != cli.Float && s.Kind != cli.Integer {
				return cli.Usagef("--space %s: the option takes no number: list its values, as in power_t=0,0.5", d.Name)
			}
		}
		for _, v := range values {
			if _, err := word(s, v); err != nil {
				return cli.Usagef("--space %s: %w", d.Name, err)
			}
		}
	}
	return nil
}

// word returns a value in canonical form. A flag is on or off; the word of one that is off is empty.
func word(s *cli.Spec, value string) (string, error) {
	if s.Kind != cli.Boolean {
		return s.Canonical(value)
	}
	switch value {
	case "on":
		return "true", nil
	case "off":
		return "", nil
	}
	return "", fmt.Errorf("%q: the values of a flag are on and off", value)
}

// apply returns the command of a job without files of its own. resource is the option that the job's
// amount sets; empty: none.
func (b *base) apply(space strategy.Space, j strategy.Job, resource string) *cli.Settings {
	s := b.learner.Clone()
	for i, d := range space {
		v, err := word(b.spec(d.Name), j.Values[i])
		if err != nil {
			panic("BUG: search: " + err.Error()) // resolve has checked the limits
		}
		if s.Set(d.Name); v != "" {
			s.Set(d.Name, v)
		}
	}
	if resource != "" {
		s.Set(resource, strconv.Itoa(j.Resource))
	}
	if s.Number("passes") > 1 && !s.Has("cache_file") {
		s.Set("cache", "true") // several passes need one
	}
	return s
}

// trial returns a command without the outputs that only the final training writes.
func (b *base) trial(command *cli.Settings) *cli.Settings {
	s := command.Clone()
	for _, name := range append(trialFiles, "quiet") {
		s.Set(name)
	}
	return s
}

// args returns the words of a command after the name of the program.
func (b *base) args(s *cli.Settings) []string { return slices.Concat(b.launcher, s.Args()) }

// line returns a command as a line of a shell.
func (b *base) line(s *cli.Settings) string {
	words := []string{"gvw"}
	for _, w := range b.args(s) {
		words = append(words, shellWord(w))
	}
	return strings.Join(words, " ")
}

// shellWord quotes a word for a shell if it needs that.
func shellWord(w string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_=+./:,@%^", r)
	}
	if w != "" && strings.IndexFunc(w, func(r rune) bool { return !plain(r) }) < 0 {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// cacheKey returns what distinguishes the caches of trials with these values: options that change
// the examples. Empty: all trials share one.
func (b *base) cacheKey(space strategy.Space, values []string) string {
	input := b.spec("data").Category
	var parts []string
	for i, d := range space {
		s := b.spec(d.Name)
		if s.Category == flags.CatFeature || s.Category == input && d.Name != "passes" && d.Name != "early_terminate" {
			parts = append(parts, d.Name+"="+values[i])
		}
	}
	return strings.Join(parts, " ")
}

// placeholder is the value that vw-hypersearch replaces.
const placeholder = "%"

// fromHypersearch translates the arguments of vw-hypersearch, L U [TOLERANCE] and an option whose value
// is %, to a space. It returns the words of the command without that option.
func fromHypersearch(limits, words []string) (space string, tolerance string, rest []string, err error) {
	if len(limits) < 2 || len(limits) > 3 {
		return "", "", nil, cli.Usagef("%q: the words before -- are a lower limit, an upper limit and perhaps a tolerance, as for vw-hypersearch; otherwise use --space", limits)
	}
	for i, w := range words {
		name := ""
		switch {
		case w == placeholder && i > 0:
			name, rest = words[i-1], slices.Concat(words[:i-1], words[i+1:])
		case strings.HasPrefix(w, "-") && strings.HasSuffix(w, "="+placeholder):
			name, rest = strings.TrimSuffix(w, "="+placeholder), slices.Concat(words[:i], words[i+1:])
		default:
			continue
		}
		if len(limits) == 3 {
			tolerance = limits[2]
		}
		return fmt.Sprintf("%s=%s..%s", strings.TrimLeft(name, "-"), limits[0], limits[1]), tolerance, rest, nil
	}
	return "", "", nil, cli.Usagef("no option has the value %s: write it as for vw-hypersearch: gvw search %s -- -d train.vw --l2 %s", placeholder, strings.Join(limits, " "), placeholder)
}
