// SPDX-License-Identifier: Apache-2.0

package train

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/internal/joinflags"
)

// readingOptions determine the examples and how they are read. With --args, the first line
// has them for all learners, as vw reads and parses the data only once.
var readingOptions = []string{
	"data", "cache", "cache_file", "kill_cache", "passes", "examples", "initial_pass_length", "example_memory", "shuffle", "shuffle_memory",
	"holdout_off", "holdout_period", "holdout_after", "dry_run",
	"json", "csv", "csv_separator", "csv_no_file_header", "csv_header", "csv_ns_value", "label", "parquet", "libsvm", "csr", "strict_parse", "max_line",
	"ignore", "keep", "redefine", "ngram", "skips", "feature_limit", "affix", "spelling", "dictionary", "dictionary_path",
	"sort_features", "chain_hash", "noconstant", "hash", "hash_seed", "named_labels",
}

// learnLines runs gvw --args FILE. As in vw, each line of FILE has the options of a learner,
// the model of line N goes to model.N, and all learners read the data of the first line.
// Here learners run one after the other, so each model has the bytes that a run with only
// its own line would write.
func (l *Learner) learnLines(ctx context.Context, flags *cli.FlagSet, file string) error {
	learners, err := readLearners(l.Process, flags, file)
	if err != nil {
		return err
	}
	for i, s := range learners {
		if err := s.Dispatch(ctx, l.Learn); err != nil {
			return fmt.Errorf("%s, line %d: %w", file, i+1, err)
		}
		if i == 0 && l.report != nil && uint64(l.report.Passes) < s.Number("passes") {
			// vw feeds all learners from one loop over the data, whose end the first learner decides.
			for _, other := range learners[1:] { // all learners stop with the first one
				other.Set("passes", strconv.Itoa(l.report.Passes))
			}
		}
	}
	return nil
}

// readLearners prints the options of all learners, as vw does, and checks all of them before
// the first one trains.
func readLearners(p *cli.Process, flags *cli.FlagSet, file string) ([]*cli.Settings, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--args: %w", err)
	}
	if len(text) == 0 {
		return nil, cli.Usagef("--args %s: the file is empty: write the options of one learner in each line", file)
	}
	var learners []*cli.Settings
	for line := range strings.Lines(string(text)) {
		line, n := strings.TrimRight(line, "\r\n"), len(learners)+1
		// vw appends these options, and prints the line with them.
		added := fmt.Sprintf(" -f model.%d --no_stdin", n)
		if err := p.Print(line + added + "\n"); err != nil {
			return nil, err
		}
		words, err := cli.SplitWords(line, false)
		if err != nil {
			return nil, cli.Usagef("%s, line %d: %w", file, n, err)
		}
		s, err := readLearner(p, flags, append(words, strings.Fields(added)...), learners)
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", file, n, err)
		}
		learners = append(learners, s)
	}
	first := learners[0]
	if len(learners) > 1 {
		// vw reads the data once; here each learner reads it, which a pipe does not allow.
		for _, name := range first.All("data") {
			if info, err := os.Stat(name); slices.Contains(files.StdinNames, name) || err == nil && !info.Mode().IsRegular() {
				return nil, cli.Usagef("--args %s: %s can be read only once, and each of the %d learners reads it: give a file", file, name, len(learners))
			}
		}
	}
	return learners, nil
}

// readLearner reads the options of a learner. The first one of before, if any, decides which
// examples it reads.
func readLearner(p *cli.Process, flags *cli.FlagSet, args []string, before []*cli.Settings) (*cli.Settings, error) {
	s, err := cli.Parse(flags, args, p.Env, os.ReadFile)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"help", "version", "span_server"} {
		if s.Has(name) {
			return nil, cli.Usagef("--%s has no place in a file of --args", name)
		}
	}
	TakeData(p, s)
	if len(before) > 0 {
		if err := readAs(p, s, before[0], len(before)+1); err != nil {
			return nil, err
		}
	}
	Note(p, s)
	if err := Check(s); err != nil {
		return nil, err
	}
	joinflags.LeaveServer(s)
	return s, nil
}

// readAs gives the n-th learner the reading options of the first one.
func readAs(p *cli.Process, s, first *cli.Settings, n int) error {
	for _, name := range readingOptions {
		own, want := s.All(name), first.All(name)
		switch {
		case len(own) == 0 || slices.Equal(own, want):
		case name != "data":
			return cli.Usagef("--%s %s: the first line does not have it, and all learners read the examples of the first line: write it there", name, own[0])
		case noting(s):
			p.Note(cli.NoteLevel, "--data "+own[0]+": not read, as in vw: all learners read the data of the first line")
		}
		s.Set(name, slices.Clone(want)...)
	}
	if s.Has("data") { // without data all learners read the cache itself
		files.NameCache(s, strconv.Itoa(n), false)
	}
	return nil
}
