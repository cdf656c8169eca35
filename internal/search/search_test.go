// SPDX-License-Identifier: Apache-2.0

package search

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/flags"
	format "github.com/gvw-project/gvw/internal/search/journal"
)

// A journal that ends within a line gives the whole lines, and another search is refused.
func TestJournals(t *testing.T) {
	t.Parallel()
	h := header{Journal: format.Format, Command: []string{"--data=x"}, Space: "l=0..1", Strategy: "random", Seed: 3, Trials: 2, Rungs: []int{0}, Parallel: 1}
	const first = `{"journal":"gvw search 1","command":["--data=x"],"space":"l=0..1","strategy":"random","seed":3,"trials":2,"eta":0,"rungs":[0],"parallel":1}` + "\n"
	const line = `{"trial":0,"options":{"learning_rate":"0.5"},"loss":0.25,"seconds":1,"cpu_seconds":2}` + "\n"
	const failure = `{"trial":1,"options":{"learning_rate":"9"},"loss":null,"seconds":1,"cpu_seconds":2,"error":"it diverges","exit_code":2}` + "\n"
	for cut := len(first); cut <= len(first+line+failure); cut++ {
		text := (first + line + failure)[:cut]
		done, whole, err := parseJournal("j", []byte(text), h)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if want := strings.Count(text, "\n") - 1; len(done) != want || whole != strings.LastIndex(text, "\n")+1 {
			t.Fatalf("%q: %d outcomes in %d bytes, want %d", text, len(done), whole, want)
		}
	}
	other := h
	other.Seed = 4
	for text, want := range map[string]string{
		first + "{\n":   "j, line 2: unexpected end of JSON input: remove the line, and the job is run again",
		"1 | a\n":       "j is no journal of a search (gvw search 1): give another file",
		"{\"a\":1}\n{}": "j is no journal of a search (gvw search 1): give another file",
	} {
		if _, _, err := parseJournal("j", []byte(text), h); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	_, _, err := parseJournal("j", []byte(first), other)
	if want := "j is of another search: the seed is 3 there and 4 now: give another file, or the same settings"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// FuzzParseJournal checks that the length of the whole lines ends at a line.
func FuzzParseJournal(f *testing.F) {
	h := header{Journal: format.Format, Rungs: []int{0}}
	f.Add([]byte(`{"journal":"gvw search 1","rungs":[0]}` + "\n" + `{"trial":1,"loss":0.5}` + "\n" + `{"tri`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, whole, err := parseJournal("j", text, h); err == nil && whole > 0 && text[whole-1] != '\n' {
			t.Fatalf("%d of %d bytes are whole", whole, len(text))
		}
	})
}

// The loss of a training is that of the model which it delivers.
func TestHeldOutLoss(t *testing.T) {
	t.Parallel()
	const fallsAndRises = `{"method":"SGD","loss":0.5,"holdout_loss":0.4}` + "\n" + `{"method":"SGD","loss":0.4,"holdout_loss":0.3}` + "\n" + `{"method":"SGD","loss":0.3,"holdout_loss":0.35}`
	for name, c := range map[string]struct {
		log     string
		holdout bool
		want    float64
		err     string
	}{
		"best pass of SGD":      {log: fallsAndRises, want: 0.3},
		"last pass of L-BFGS":   {log: strings.ReplaceAll(fallsAndRises, "SGD", "BFGS"), want: 0.35},
		"validation set":        {log: `{"method":"SGD","loss":0.5,"valid":{"loss":0.2,"auc":0.9}}`, holdout: true, want: 0.2},
		"progressive":           {log: `{"method":"SGD","loss":0.5}`, want: 0.5},
		"progressive not asked": {log: `{"method":"SGD","loss":0.5}`, holdout: true, err: "no example was held out: give --valid, or --passes N with N > 1"},
		"training loss":         {log: `{"method":"BFGS","loss":0.5}`, err: "no example was held out: give --valid, or --passes N with N > 1"},
		"undefined":             {log: `{"method":"SGD","loss":null}`, err: "no example was held out: give --valid, or --passes N with N > 1"},
		"nothing":               {err: "the training has made no pass"},
	} {
		got, err := heldOutLoss([]byte(c.log), c.holdout)
		if c.err != "" {
			if err == nil || err.Error() != c.err {
				t.Errorf("%s: %v, want %s", name, err, c.err)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%s: %v, %v, want %v", name, got, err, c.want)
		}
	}
}

// The best job has the most resource; failures come last in the table.
func TestBest(t *testing.T) {
	t.Parallel()
	loss := func(x float64) *float64 { return &x }
	all := []outcome{
		{Trial: 0, Resource: 1, Loss: loss(0.1)},
		{Trial: 1, Resource: 3},
		{Trial: 0, Resource: 3, Loss: loss(0.4)},
		{Trial: 2, Resource: 3, Loss: loss(0.2)},
		{Trial: 3, Resource: 3, Loss: loss(0.2)},
	}
	if got := best(all); got != 3 {
		t.Errorf("best %d, want 3", got)
	}
	var order []int
	for _, o := range ordered(all) {
		order = append(order, o.Trial)
	}
	if diff := cmp.Diff([]int{2, 3, 0, 1, 0}, order); diff != "" {
		t.Error(diff)
	}
	if got := best([]outcome{{Trial: 0}}); got != -1 {
		t.Errorf("best %d of failures, want -1", got)
	}
}

// Words are quoted so that a shell returns them.
func TestShellWords(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"--l2=1e-9": "--l2=1e-9", "": "''", "part.{rank}": "'part.{rank}'", "it's": `'it'\''s'`, "a b": "'a b'", "x*": "'x*'",
	} {
		if got := shellWord(word); got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
	}
}

// The arguments of vw-hypersearch become a space.
func TestHypersearch(t *testing.T) {
	t.Parallel()
	for _, words := range [][]string{{"-d", "x", "--l2", "%"}, {"-d", "x", "--l2=%"}} {
		space, tol, rest, err := fromHypersearch([]string{"1e-10", "5e-4", "0.02"}, words)
		if err != nil || space != "l2=1e-10..5e-4" || tol != "0.02" {
			t.Errorf("%q: %s, %s, %v", words, space, tol, err)
		}
		if diff := cmp.Diff([]string{"-d", "x"}, rest); diff != "" {
			t.Error(diff)
		}
	}
	if _, _, _, err := fromHypersearch([]string{"1", "2"}, []string{"-d", "x"}); err == nil {
		t.Error("no option is varied, and there is no error")
	}
}

// The end of a long output is kept.
func TestTail(t *testing.T) {
	t.Parallel()
	var end tail
	for range 1000 {
		if _, err := end.Write([]byte("a line of diagnostics\n")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := end.Write([]byte("gvw: the reason\n\n")); err != nil {
		t.Fatal(err)
	}
	if n := len(end.String()); n > 2*tailBytes {
		t.Errorf("%d bytes are kept", n)
	}
	if got := lastLine(end.String()); got != "the reason" {
		t.Errorf("last line %q", got)
	}
}

// Trials that run at the same time write none of the files that the final training writes.
func TestTrialsWriteNoFiles(t *testing.T) {
	p := &cli.Process{}
	table := cli.NewTable(&cli.FlagSet{Specs: flags.Learn}, nil)
	b, err := readBase(p, table, strings.Fields("-d x.vw -l 1 -f m -p p --timeline t --record r"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(b.trial(b.learner).Args(), " "), "--data=x.vw --learning_rate=1"; got != want {
		t.Errorf("got the options %s of a trial, want %s", got, want)
	}
}
