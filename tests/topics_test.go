// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/internal/sampled"
)

// The commands of docs/topics.md print what it shows.
func TestTopicsTutorial(t *testing.T) {
	t.Parallel()
	testConsole(t, "../docs/topics.md", 8, "../model")
}

// vw has inferred γ of 24 documents with the same model.
func TestInferHasTheGammaOfVW(t *testing.T) {
	t.Parallel()
	lda := filepath.Join("..", "model", "testdata", "lda")
	got := strings.Fields(gvw(t, "", "infer", "-i", filepath.Join(lda, "themes.lda"), "-d", filepath.Join(lda, "themes.vw"), "--gamma").stdout)
	want := strings.Fields(readFile(t, filepath.Join(lda, "themes.gamma")))
	if len(got) != len(want) || len(got) != 24*4 {
		t.Fatalf("%d words, want %d: 3 numbers and a tag of 24 documents", len(got), len(want))
	}
	for i := range got {
		x, err := strconv.ParseFloat(want[i], 64)
		if err != nil && got[i] != want[i] {
			t.Errorf("tag %q, want %q", got[i], want[i])
		}
		if y, _ := strconv.ParseFloat(got[i], 64); math.Abs(x-y) > 1e-3*x {
			t.Errorf("document %d: got %s, want %s", i/4+1, got[i], want[i])
		}
	}
}

// lda_eval.py measures the perplexity of held-out tokens, too.
func TestPerplexityOfAnotherProgram(t *testing.T) {
	t.Parallel()
	python, vw := learnedPython(t), realVW(t)
	train, test, eval := shared(t, "data", "lda-ap", "train.vw.gz"), shared(t, "data", "lda-ap", "test.vw.gz"), shared(t, "tools", "lda_eval.py")
	dir := t.TempDir()
	model, table := filepath.Join(dir, "model"), filepath.Join(dir, "table")
	args := append(vw[1:], "-d", train, "--compressed", "--lda", "10", "--lda_D", "2021", "--minibatch", "256", "-b", "14", "--power_t", "0.5", "--initial_t", "1", "-f", model, "--quiet")
	if out, err := exec.CommandContext(t.Context(), vw[0], args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	writeFile(t, table, gvw(t, "", "topics", model, "--to", "table").stdout)
	out, err := exec.CommandContext(t.Context(), python, eval, test, table).Output()
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Tokens     int     `json:"heldout_tokens"`
		Perplexity float64 `json:"completion_ppl"`
	}
	if err := json.Unmarshal(out, &want); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	var got struct {
		Tokens     int     `json:"held_out"`
		Perplexity float64 `json:"perplexity"`
	}
	if err := json.Unmarshal([]byte(gvw(t, "", "topics", model, "--perplexity", test, "--to", "json").stdout), &got); err != nil {
		t.Fatal(err)
	}
	if got.Tokens != want.Tokens || math.Abs(got.Perplexity-want.Perplexity) > 0.0051 { // it has two decimals
		t.Errorf("perplexity %v of %d tokens, want %v of %d", got.Perplexity, got.Tokens, want.Perplexity, want.Tokens)
	}
}

// The goals are those of docs/topics.md, on documents that no model has seen. The settings were chosen on a tenth of
// the training documents (bench/topics), with passes until the goal, but for lda-kos: all documents in one batch, as the reference.
func TestTopicsReachTheirGoals(t *testing.T) {
	t.Parallel()
	for _, c := range sampled.Short(t, []struct {
		set, topics, documents, bits, batch, powerT, passes string
		words                                               int
		goal                                                float64
	}{
		{"lda-ap", "10", "2021", "14", "1024", "0.5", "6", 10473, 3136},
		{"lda-kos", "20", "3087", "13", "3087", "0", "15", 6906, 1705},
		{"lda-20news", "20", "11272", "14", "4096", "0.5", "6", 12900, 2900},
	}, 0, 3) {
		t.Run(c.set, func(t *testing.T) {
			t.Parallel()
			train, test := shared(t, "data", c.set, "train.vw.gz"), shared(t, "data", c.set, "test.vw.gz")
			dir := t.TempDir()
			model, vocab := filepath.Join(dir, "model"), filepath.Join(dir, "vocab")
			var words strings.Builder
			for i := range c.words {
				fmt.Fprintf(&words, "%d\t%d\n", i, i)
			}
			writeFile(t, vocab, words.String())
			gvw(t, "", "-d", train, "--cache_file", filepath.Join(dir, "cache"), "--holdout_off", "-f", model, "--quiet",
				"--lda", c.topics, "--lda_D", c.documents, "-b", c.bits, "--minibatch", c.batch,
				"-l", "1", "--power_t", c.powerT, "--initial_t", "1", "--lda_epsilon", "0.03", "--passes", c.passes)
			var got struct {
				Perplexity float64 `json:"perplexity"`
			}
			out := gvw(t, "", "topics", model, "--vocab", vocab, "--vocab_ids", "column", "--perplexity", test, "--alpha", "0.1", "--to", "json").stdout
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatal(err)
			}
			t.Logf("perplexity %.1f", got.Perplexity)
			if !(got.Perplexity > 1000 && got.Perplexity <= c.goal) {
				t.Errorf("the perplexity is %.1f, want at most %v", got.Perplexity, c.goal)
			}
		})
	}
}
