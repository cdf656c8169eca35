// SPDX-License-Identifier: Apache-2.0

package feature_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/feature"
)

// TestInteractionsAreThoseOfVW compares indices, values and order with the output of the real
// vw's --audit (testdata/interactions.txt, made by vw_examples.py), for interactions of the
// parser and of an Interactor.
func TestInteractionsAreThoseOfVW(t *testing.T) {
	golden, err := os.ReadFile("testdata/interactions.txt")
	if err != nil {
		t.Fatal(err)
	}
	for row := range strings.Lines(string(golden)) {
		part := strings.Split(strings.TrimSuffix(row, "\n"), "\t")
		cfg := fromOptions(t, part[0])
		for name, b := range map[string]*feature.Batch{"inline": parse(t, cfg, part[1]), "expanded": expanded(t, cfg, part[1])} {
			var got []string
			for _, f := range b.FeaturesOf(&b.Examples[0]) {
				got = append(got, fmt.Sprintf("%d:%.6g", f.Index, f.Value))
			}
			if diff := cmp.Diff(part[2], strings.Join(got, " ")); diff != "" {
				t.Errorf("%s, vw %s, %q (-vw +gvw):\n%s", name, part[0], part[1], diff)
			}
		}
	}
}

// fromOptions reads the options that interactions.txt and options.txt use.
func fromOptions(t *testing.T, options string) feature.Config {
	cfg := feature.Config{Bits: 18}
	args := strings.Fields(options)
	for len(args) > 0 {
		if on, ok := map[string]*bool{
			"--noconstant": &cfg.NoConstant, "--permutations": &cfg.Permutations,
			"--leave_duplicate_interactions": &cfg.LeaveDuplicates, "--chain_hash": &cfg.ChainHash,
		}[args[0]]; ok {
			*on = true
			args = args[1:]
			continue
		}
		add := func(list *[]string) { *list = append(*list, args[1]) }
		switch args[0] {
		case "-q", "--cubic", "--interactions":
			add(&cfg.Interactions)
		case "--ignore":
			add(&cfg.Ignore)
		case "--ignore_linear":
			add(&cfg.IgnoreLinear)
		case "--keep":
			add(&cfg.Keep)
		case "--redefine":
			add(&cfg.Redefine)
		case "--ngram":
			add(&cfg.NGrams)
		case "--skips":
			add(&cfg.Skips)
		case "--feature_limit":
			add(&cfg.Limits)
		case "--spelling":
			add(&cfg.Spelling)
		case "--affix":
			cfg.Affix = args[1]
		case "-b":
			scan(t, args[1], &cfg.Bits)
		case "--hash":
			cfg.HashAll = args[1] == "all"
		case "--hash_seed":
			scan(t, args[1], &cfg.HashSeed)
		default:
			t.Fatalf("option %s", args[0])
		}
		args = args[2:]
	}
	return cfg
}

func scan(t *testing.T, s string, v any) {
	if _, err := fmt.Sscan(s, v); err != nil {
		t.Fatal(err)
	}
}

func parse(t testing.TB, cfg feature.Config, lines ...string) *feature.Batch {
	t.Helper()
	p, err := feature.NewParser(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var b feature.Batch
	for i, line := range lines {
		if err := p.AppendLine(&b, []byte(line), int64(i+1)); err != nil {
			t.Fatal(err)
		}
	}
	return &b
}

func expanded(t testing.TB, cfg feature.Config, lines ...string) *feature.Batch {
	t.Helper()
	x, err := feature.NewInteractor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Interactions, cfg.IgnoreLinear = nil, nil
	var b feature.Batch
	if err := x.Expand(&b, parse(t, cfg, lines...)); err != nil {
		t.Fatal(err)
	}
	return &b
}

func TestExpandGivesWhatTheParserGives(t *testing.T) {
	cfg := feature.Config{Bits: 18, Interactions: []string{"::", "ab"}}
	lines := []string{"1 'x |a 1 2 |b 3", "'yy |b x", "-1 2 .5 | z:nan |a :2 |b k |a j", "1"}
	if diff := cmp.Diff(parse(t, cfg, lines...), expanded(t, cfg, lines...)); diff != "" {
		t.Errorf("-parser +interactor:\n%s", diff)
	}
}

func TestTooManyInteractionsAreAnError(t *testing.T) {
	line := []byte("1 'tag |a" + strings.Repeat(" x", 12000))
	cfg := feature.Config{Bits: 18, Interactions: []string{"aa"}}
	p, err := feature.NewParser(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var b feature.Batch
	err = p.AppendLine(&b, line, 7)
	limit, ok := errors.AsType[*feature.LimitError](err)
	if !ok || limit.Line != 7 || limit.Features != 12000*12001/2+12001 {
		t.Fatalf("got %v", err)
	}
	if !strings.Contains(err.Error(), "line 7: 72018001 features") {
		t.Errorf("got %q", err)
	}
	if diff := cmp.Diff(feature.Batch{}, b, emptyIsNil); diff != "" {
		t.Errorf("the batch was changed:\n%s", diff)
	}
	if err := p.AppendLine(&b, []byte("1 |a x |b y"), 8); err != nil || len(b.Features) != 4 {
		t.Errorf("after it: %v, %d features", err, len(b.Features))
	}
}

func TestTermsAreSortedWithoutDuplicates(t *testing.T) {
	for _, c := range []struct {
		cfg  feature.Config
		want []string
	}{
		{feature.Config{}, []string{}},
		{feature.Config{Interactions: []string{"abc", "ac", `\x61b`, "ba", "aa", ":b"}}, []string{":b", "aa", "ab", "ac", "abc"}},
		{feature.Config{Interactions: []string{"ba", "ab", "ab"}, LeaveDuplicates: true}, []string{"ab", "ab", "ba"}},
	} {
		if diff := cmp.Diff(c.want, c.cfg.Terms()); diff != "" {
			t.Errorf("%q: %s", c.cfg.Interactions, diff)
		}
	}
}
