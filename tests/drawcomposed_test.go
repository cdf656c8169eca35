// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// composedDraw is a learner that drawComposed draws.
type composedDraw struct {
	words  string // its options
	unkept string // further ones, which models do not keep
	kind   labelKind
	crosses,
	plain bool // it allows interactions; it has a rule of its own
}

var composedDraws = []composedDraw{
	{words: "--lrq ab2"},
	{words: "--lrq aa3 --lrq bc1"},
	{words: "--lrq ab2 --lrqdropout"},
	{words: "--lrqfa abc1"},
	{words: "--nn 2", crosses: true},
	{words: "--nn 3 --inpass", crosses: true},
	{words: "--nn 3 --dropout", crosses: true},
	{words: "--nn 2 --dropout --inpass", unkept: "--meanfield", crosses: true},
	{words: "--new_mf 2 -q ab"},
	{words: "--rank 2 -q ab -q bc", plain: true},
	{words: "--bootstrap 3", crosses: true},
	{words: "--bootstrap 4 --bs_type vote", crosses: true},
	{words: "--boosting 3", kind: signLabels, crosses: true},
	{words: "--boosting 3 --alg logistic", kind: signLabels, crosses: true},
	{words: "--boosting 3 --alg adaptive", kind: signLabels, crosses: true},
	{words: "--stage_poly --batch_sz 15", crosses: true},
	{words: "--stage_poly --batch_sz 10 --batch_sz_no_doubling --sched_exponent 0.5", crosses: true},
	{words: "--marginal a"},
	{words: "--marginal ab --decay 0.02", unkept: "--compete"},
	{words: "--marginal b --initial_numerator 0.2 --initial_denominator 2 --unweighted_marginals"},
	{words: "--csoaa 3", kind: costLabels, crosses: true},
	{words: "--multilabel_oaa 3", kind: listLabels, crosses: true},
	{words: "--ect 3", kind: classLabels, crosses: true},
	{words: "--ect 3 --error 2", kind: classLabels, crosses: true},
	{words: "--log_multi 3 --sgd -l 0.3", kind: classLabels, crosses: true},
	{words: "--log_multi 6 --swap_resistance 1", kind: classLabels, crosses: true},
}

// drawComposed draws a composed learner beside options that it allows.
func drawComposed(rng *rand.Rand) optionSet {
	learner := composedDraws[rng.IntN(len(composedDraws))]
	s := optionSet{kind: learner.kind}
	s.add(learner.words)
	if learner.unkept != "" {
		s.unkept(learner.unkept)
	}
	some := func(n int, options ...string) {
		if rng.IntN(n) == 0 {
			s.add(options[rng.IntN(len(options))])
		}
	}
	switch {
	case s.kind == realLabels && rng.IntN(3) == 0:
		s.kind = signLabels
		s.unkept("--loss_function logistic")
	case s.kind == realLabels && rng.IntN(4) == 0:
		s.unkept("--loss_function quantile --quantile_tau 0.3")
	case s.kind == classLabels && rng.IntN(2) == 0, s.kind == listLabels && rng.IntN(2) == 0, s.kind == signLabels:
		s.unkept("--loss_function logistic")
	}
	switch {
	case learner.plain:
		s.add("-l " + []string{"0.1", "1"}[rng.IntN(2)])
	case !s.has("--sgd"):
		s.drawRule(rng)
	}
	if learner.crosses {
		some(4, "-q ab", "-q aa", "--cubic abc", "--interactions ab --interactions bc")
	}
	some(10, "--ignore b", "--keep a --keep b", "--redefine c:=a")
	some(10, "--affix +2a", "--spelling a", "--hash all", "--hash_seed 3")
	some(8, "--noconstant", "--constant 1.5")
	some(2, fmt.Sprintf("-b %d", 8+rng.IntN(12)))
	if rng.IntN(3) == 0 {
		s.add(fmt.Sprintf("-k --cache_file CACHE --passes %d", 2+rng.IntN(3)) + []string{"", " --holdout_off", " --holdout_period 4"}[rng.IntN(3)])
		some(4, "--decay_learning_rate 0.9")
	}
	if strings.HasPrefix(learner.words, "--lrq") {
		some(6, "--ngram 2", "--ngram a2 --skips a1")
	}
	if strings.Contains(learner.words, "dropout") || s.has("--bootstrap") || s.has("adaptive") {
		some(2, "--random_seed 7")
	}
	return s
}
