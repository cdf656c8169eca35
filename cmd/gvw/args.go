// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/internal/cli"
)

// readingOptions decide which examples there are and how they are read. Under --args the
// first line has them for all learners.
var readingOptions = []string{
	"data", "cache", "cache_file", "kill_cache", "passes", "examples", "initial_pass_length", "shuffle", "shuffle_memory",
	"holdout_off", "holdout_period", "holdout_after", "dry_run",
	"json", "csv", "csv_separator", "csv_no_file_header", "csv_header", "csv_ns_value", "label", "libsvm", "strict_parse", "max_line",
	"ignore", "keep", "redefine", "ngram", "skips", "feature_limit", "affix", "spelling", "dictionary", "dictionary_path",
	"sort_features", "chain_hash", "noconstant", "hash", "hash_seed", "named_labels",
}

// learnLines is gvw --args FILE. As in vw, each line of FILE has the options of a learner,
// the model of line N goes to model.N, and all learners read the data of the first line.
// Learners run one after the other: each model has the bytes that it would have by itself.
func (l *learner) learnLines(ctx context.Context, flags *flagSet, file string) error {
	learners, err := readLearners(l.Process, flags, file)
	if err != nil {
		return err
	}
	for i, s := range learners {
		if err := s.dispatch(ctx, l.learn); err != nil {
			return fmt.Errorf("%s, line %d: %w", file, i+1, err)
		}
		if i == 0 && l.report != nil && uint64(l.report.Passes) < s.number("passes") {
			for _, other := range learners[1:] { // where the first one stops, all stop
				other.set("passes", strconv.Itoa(l.report.Passes))
			}
		}
	}
	return nil
}

// readLearners prints the options of all learners, as vw does, and checks them.
func readLearners(p *cli.Process, flags *flagSet, file string) ([]*settings, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--args: %w", err)
	}
	if len(text) == 0 {
		return nil, cli.Usagef("--args %s: the file is empty: write the options of one learner in each line", file)
	}
	var learners []*settings
	for line := range strings.Lines(string(text)) {
		line, n := strings.TrimRight(line, "\r\n"), len(learners)+1
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
		for _, name := range first.all("data") {
			if info, err := os.Stat(name); slices.Contains(stdinNames, name) || err == nil && !info.Mode().IsRegular() {
				return nil, cli.Usagef("--args %s: %s can be read only once, and each of the %d learners reads it: give a file", file, name, len(learners))
			}
		}
	}
	return learners, nil
}

// readLearner reads the options of a learner. The first of those before it, if there is
// one, decides what it reads.
func readLearner(p *cli.Process, flags *flagSet, args []string, before []*settings) (*settings, error) {
	s, err := normalise(flags, args, p.Env, os.ReadFile)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"help", "version", "span_server"} {
		if s.has(name) {
			return nil, cli.Usagef("--%s has no place in a file of --args", name)
		}
	}
	takeData(p, s)
	if len(before) > 0 {
		if err := readAs(p, s, before[0], len(before)+1); err != nil {
			return nil, err
		}
	}
	note(p, s)
	if err := checkLearn(s); err != nil {
		return nil, err
	}
	leaveServer(s)
	return s, nil
}

// readAs gives the n-th learner the reading options of the first one.
func readAs(p *cli.Process, s, first *settings, n int) error {
	for _, name := range readingOptions {
		own, want := s.all(name), first.all(name)
		switch {
		case len(own) == 0 || slices.Equal(own, want):
		case name != "data":
			return cli.Usagef("--%s %s: the first line does not have it, and all learners read the examples of the first line: write it there", name, own[0])
		case noting(s):
			fmt.Fprintf(p.Stderr, "gvw: --data %s: not read, as in vw: all learners read the data of the first line\n", own[0])
		}
		s.set(name, slices.Clone(want)...)
	}
	if s.has("data") { // without data all learners read the cache itself
		nameCache(s, strconv.Itoa(n), false)
	}
	return nil
}
