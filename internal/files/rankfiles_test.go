// SPDX-License-Identifier: Apache-2.0

package files

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/flags"
)

func settings(t *testing.T, line string) *cli.Settings {
	t.Helper()
	s, err := cli.Parse(cli.NewTable(&cli.FlagSet{Specs: flags.Learn}, nil).Learner, strings.Fields(line), nil, os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestNoTwoRanksShareACache names the caches of two ranks of one command line.
func TestNoTwoRanksShareACache(t *testing.T) {
	for _, c := range []struct {
		line string
		own  bool
		want [2]string
	}{
		{"-d t.vw", false, [2]string{"", ""}},
		{"-d t.vw --cache_file c", false, [2]string{"c.0", "c.1"}},
		{"-d t.vw --cache_file c", true, [2]string{"c.0", "c.1"}},
		{"-d t.vw --cache_file c.{rank}.x", false, [2]string{"c.0.x", "c.1.x"}},
		{"-d t.vw -c", false, [2]string{"t.vw.cache.0", "t.vw.cache.1"}},
		{"-d t.vw -c --cache_file c", false, [2]string{"c.0", "c.1"}},
		// The names of the caches follow from those of the data.
		{"-d part.{rank} -c", true, [2]string{"", ""}},
	} {
		var got [2]string
		for rank, text := range []string{"0", "1"} {
			s := settings(t, c.line)
			NameCache(s, text, c.own)
			FillRank(s, rank)
			got[rank] = s.Get("cache_file")
			if c.own && got[rank] == "" && !s.Has("cache") {
				t.Errorf("%s: rank %d has no cache", c.line, rank)
			}
		}
		if got != c.want {
			t.Errorf("%s, own %v: the caches are %q, want %q", c.line, c.own, got, c.want)
		}
	}
}

// TestFillRankFillsFilesOnly replaces the mark in each value of options that name files, and
// in no other option.
func TestFillRankFillsFilesOnly(t *testing.T) {
	s := settings(t, "-d {rank}/a.{rank} -d b -p p{rank} -f m --id {rank}")
	FillRank(s, 12)
	got := map[string][]string{}
	for _, name := range []string{"data", "predictions", "final_regressor", "id"} {
		got[name] = s.All(name)
	}
	want := map[string][]string{"data": {"12/a.12", "b"}, "predictions": {"p12"}, "final_regressor": {"m"}, "id": {RankMark}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// TestLeaveOutKeepsThePassOfARegulariser leaves each file out of a rank that does not write it.
// An output regulariser stays without a name, because its pass needs all ranks.
func TestLeaveOutKeepsThePassOfARegulariser(t *testing.T) {
	for _, file := range OnceFiles {
		s := settings(t, "-d t.vw --"+file+" x")
		LeaveOut(s, file)
		regulariser := strings.HasPrefix(file, "output_feature_regularizer")
		if s.Get(file) != "" || s.Has(file) != regulariser {
			t.Errorf("--%s: got %q, present %v; want no name, present %v", file, s.Get(file), s.Has(file), regulariser)
		}
	}
}
