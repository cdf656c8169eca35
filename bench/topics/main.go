// SPDX-License-Identifier: Apache-2.0

// Command topics measures topic models of gvw beside those of vw, gensim, tomotopy and
// scikit-learn, in one run.
//
//	python3 -m venv PEERS; PEERS/bin/pip install gensim tomotopy scikit-learn
//	go run ./bench/topics -python PEERS/bin/python -vw "PYTHON -m vowpalwabbit"
//
// Each system trains on one core until its topics predict held-out documents with the perplexity
// that is the goal for the data set, by document completion. The settings of each system were chosen
// before, on a tenth of the training documents that it was not trained on. Times are processor seconds: whole
// processes of gvw and vw, which read text, and training only of the others, whose start and
// reading of data are excluded. lda_eval.py scores the topics at the end.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gvw-project/gvw/bench/internal/setup"
)

// settings are common to all systems.
type settings struct {
	gvw, eval       string
	vw, python      []string
	seed, most      int
	alpha, eta, tau float64
	dir             string
	own             *plan // of gvw; nil: it is chosen

	size  int    // ranks of gvw; 0: one process
	every string // moments of their averages
}

// set is a data set with the goal for its perplexity.
type set struct {
	name   string
	topics int
	goal   float64
}

var sets = []set{{"lda-ap", 10, 3136}, {"lda-kos", 20, 1705}, {"lda-20news", 20, 2900}}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "topics:", err)
		os.Exit(1)
	}
}

func run() (err error) {
	var s settings
	data := flag.String("data", "../shared/data", "folder with lda-ap, lda-kos and lda-20news")
	vw := flag.String("vw", "python3 -m vowpalwabbit", "command line that starts the real vw")
	python := flag.String("python", "python3", "a Python with gensim, tomotopy and scikit-learn")
	only := flag.String("sets", "", "names of data sets, separated by commas; empty: all")
	systems := flag.String("systems", "gvw,vw,tomotopy,gensim,scikit-learn,gensim-multicore", "systems, separated by commas; gvw first")
	flag.StringVar(&s.gvw, "gvw", "", "gvw binary; empty: built from this tree")
	flag.StringVar(&s.eval, "eval", "../shared/tools/lda_eval.py", "program that scores topics; it needs numpy and scipy")
	ranks := flag.Int("ranks", 0, "also measure so many ranks of gvw beside one process; 0: none")
	flag.IntVar(&s.seed, "seed", 1, "seed of the random start")
	flag.IntVar(&s.most, "passes", 100, "most passes of a variational method, up to 100")
	flag.Float64Var(&s.alpha, "alpha", 0.1, "prior of topics in documents")
	flag.Float64Var(&s.eta, "eta", 0.1, "prior of words in topics")
	flag.Func("plan", "settings of gvw, `DOCUMENTS,KAPPA,EPSILON`, with 0 documents for one batch, instead of those that are chosen on a part of the documents", func(text string) (err error) {
		s.own, err = parsePlan(text)
		return err
	})
	flag.Float64Var(&s.tau, "tau", 1, "batches before the first one, for the decay of the rate")
	flag.Parse()
	s.vw, s.python = strings.Fields(*vw), strings.Fields(*python)
	if s.dir, err = os.MkdirTemp("", "gvw-topics-"); err != nil {
		return err
	}
	defer os.RemoveAll(s.dir)
	if s.gvw == "" {
		if s.gvw, err = setup.Build(context.Background(), s.dir, "gvw"); err != nil {
			return err
		}
	}
	chosen := strings.Split(*systems, ",")
	versions, err := s.versions(slices.Contains(chosen, "vw"))
	if err != nil {
		return err
	}
	fmt.Printf("%s; %s\nalpha %g, eta %g, τ %g, seed %d\n", setup.Machine(), versions, s.alpha, s.eta, s.tau, s.seed)
	for _, set := range sets {
		if *only == "" || strings.Contains(","+*only+",", ","+set.name+",") {
			err = errors.Join(err, s.measure(filepath.Join(*data, set.name), set, chosen, *ranks))
		}
	}
	return err
}

// measure trains all systems on a data set, and prints a line for each. ranks is the number of ranks
// of gvw that are measured, too.
func (s *settings) measure(dir string, set set, systems []string, ranks int) error {
	c, err := read(dir)
	if err != nil {
		return err
	}
	fit, err := c.split(s.dir)
	if err != nil {
		return err
	}
	fmt.Printf("\n%s: K %d, %d documents, %d tokens, %d words, goal %g\n\n", set.name, set.topics, c.documents, c.tokens, c.words, set.goal)
	fmt.Println("| system | passes | perplexity | CPU s | documents/s | tokens/s | gvw's tokens/s | CPU s to the goal |")
	fmt.Println("|---|--:|--:|--:|--:|--:|--:|--:|")
	var ours *result
	var notes []string
	var own plan
	for _, name := range systems {
		p, err := s.choose(name, fit, set)
		if err != nil {
			return fmt.Errorf("%s on a part of %s: %w", name, set.name, err)
		}
		steps := upTo(passes, s.most)
		if name == "tomotopy" {
			steps = sweeps
		} else {
			notes = append(notes, fmt.Sprintf("%s: %v", name, p))
		}
		curve, err := s.train(name, c, set.topics, p, steps, set.goal)
		if err != nil {
			return fmt.Errorf("%s on %s: %w", name, set.name, err)
		}
		r := curve[len(curve)-1]
		if name == "gvw" {
			ours, own = r, p
		}
		rate, total := "-", "not reached"
		if ours != nil {
			rate = fmt.Sprintf("%.1f ×", float64(ours.passes)/ours.cpu/(float64(r.passes)/r.cpu))
			if ours.perplexity <= set.goal && r.perplexity <= set.goal {
				total = fmt.Sprintf("%.1f ×", r.cpu/ours.cpu)
			}
		}
		if r.perplexity, err = s.score(c, r.table); err != nil {
			return err
		}
		passes := float64(r.passes)
		fmt.Printf("| %s | %d | %.1f | %.2f | %.0f | %.0f | %s | %s |\n", name, r.passes, r.perplexity, r.cpu,
			passes*float64(c.documents)/r.cpu, passes*float64(c.tokens)/r.cpu, rate, total)
	}
	fmt.Printf("\nChosen: %s\n", strings.Join(notes, "; "))
	if ours == nil || ranks == 0 {
		return nil
	}
	usual := plan{batch: 256, kappa: 0.7, epsilon: 0.001}
	if err := s.ranks(c, set, usual, ranks); err != nil || own == usual {
		return err
	}
	return s.ranks(c, set, own, ranks)
}
