// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

// The training options, under vw's names. l2 is λ of λ/2‖w‖², added to the sum of the losses:
// scikit-learn's 1/C.
const (
	l2        = "0.03"
	sgdPasses = 2  // of the hybrid
	allPasses = 20 // of the hybrid, SGD's included
)

// common are the options that all runs share.
var common = []string{"--loss_function", "logistic", "-b", "18"}

// curve holds the numbers of passes after which the methods are compared.
var curve = []int{1, 2, 4, 6, 8, 12, 16, 20}

func main() {
	bin := flag.String("bin", "bin", "`folder` with gvw and spanning_tree")
	data := flag.String("data", "quickstart", "`folder` with train.vw.gz and test.vw.gz")
	out := flag.String("out", "quickstart/out", "`folder` for models, predictions and logs; emptied first")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *bin, *data, *out); err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, bin, data, out string) error {
	begun := time.Now()
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	site := &site{bin: bin, out: out, train: filepath.Join(data, "train.vw.gz"), test: filepath.Join(data, "test.vw.gz"), talk: os.Stdout}
	if err := site.startServer(ctx); err != nil {
		return err
	}
	defer site.stopServer()

	options := hybrid(sgdPasses, allPasses-sgdPasses)
	if err := site.trainTwice(ctx, options); err != nil {
		return err
	}
	model := filepath.Join(out, "first", "model.0")
	predictions := filepath.Join(out, "predictions")
	final, err := site.score(ctx, model, predictions)
	if err != nil {
		return err
	}
	if err := site.printCurve(ctx); err != nil {
		return err
	}
	fmt.Printf("\nthe hybrid's model on %d e-mails that nobody trained on:\n  AUC %.4f, %d errors, log-loss %.4f\n",
		final.n, final.auc, final.errors, final.logLoss)
	spam, ham, err := strongest(model, site.train, 10)
	if err != nil {
		return err
	}
	fmt.Printf("\nstrongest words of spam  %s\nstrongest words of ham   %s\n", strings.Join(spam, ", "), strings.Join(ham, ", "))
	fmt.Printf("\n%.0f s. Left behind: %s, %s, and the logs in %s\n", time.Since(begun).Seconds(), model, predictions, out)
	return nil
}

// hybrid returns the options for p passes of SGD and q of L-BFGS.
func hybrid(p, q int) []string {
	return []string{"--hybrid", fmt.Sprintf("%d:%d", p, q), "--l2", l2}
}

// printCurve trains each method for a growing number of passes and prints the
// log-loss on the test file.
func (s *site) printCurve(ctx context.Context) error {
	fmt.Fprintf(s.talk, "\nlog-loss on the test file after n passes over the training file\n")
	fmt.Fprintf(s.talk, "%4s  %10s  %10s  %10s\n", "n", "SGD", "L-BFGS", "hybrid")
	for _, n := range curve {
		passes := []string{"--passes", fmt.Sprint(n), "--holdout_off"}
		methods := []struct {
			name    string
			options []string // nil: the method has no run of this length
		}{
			{"sgd", passes},
			{"lbfgs", nil},
			{"hybrid", nil},
		}
		if n >= 2 {
			methods[1].options = append(passes, "--bfgs", "--l2", l2)
		}
		if n >= sgdPasses+2 {
			methods[2].options = hybrid(sgdPasses, n-sgdPasses)
		}
		fmt.Fprintf(s.talk, "%4d", n)
		for _, m := range methods {
			if m.options == nil {
				fmt.Fprintf(s.talk, "  %10s", "–")
				continue
			}
			name := fmt.Sprintf("curve/%s-%d", m.name, n)
			if err := s.trainJob(ctx, name, m.options); err != nil {
				return err
			}
			got, err := s.score(ctx, filepath.Join(s.out, name, "model.0"), filepath.Join(s.out, name, "predictions"))
			if err != nil {
				return err
			}
			fmt.Fprintf(s.talk, "  %10.4f", got.logLoss)
		}
		fmt.Fprintln(s.talk)
	}
	return nil
}
