// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// optionSet is a command line for both programs, as units that make sense
// without each other: shrinking leaves some out.
type optionSet struct {
	kind   labelKind
	family bool // FTRL and its variants, which accept fewer options
	units  []unit
}

// unit is an option, or several that need each other.
type unit struct {
	words  []string
	unkept bool // a model does not keep it: it is needed again to predict
	order  bool // results depend on the order of the features in a line
}

func (s *optionSet) add(text string) { s.units = append(s.units, unit{words: strings.Fields(text)}) }

func (s *optionSet) unkept(text string) {
	s.units = append(s.units, unit{strings.Fields(text), true, false})
}

// words returns the arguments; forPrediction those that a model does not keep.
func (s *optionSet) words() (all, forPrediction []string) {
	for _, u := range s.units {
		all = append(all, u.words...)
		if u.unkept {
			forPrediction = append(forPrediction, u.words...)
		}
	}
	return all, forPrediction
}

func (s *optionSet) ordered() bool {
	return slices.ContainsFunc(s.units, func(u unit) bool { return u.order })
}

func drawOptions(rng *rand.Rand) optionSet {
	var s optionSet
	one := func(n int) bool { return rng.IntN(n) == 0 }
	pick := func(from ...string) string { return from[rng.IntN(len(from))] }

	switch {
	case one(10):
		s.drawClasses(rng)
	case one(10):
		s.drawFTRL(rng)
	default:
		s.drawLoss(rng)
		s.drawRule(rng)
	}
	s.drawFeatures(rng)
	if one(2) {
		s.add(fmt.Sprintf("-b %d", 14+rng.IntN(8)))
	}
	if one(4) {
		passes := fmt.Sprintf("-k --cache_file CACHE --passes %d", 2+rng.IntN(3))
		s.add(passes + pick(" --holdout_off", " --holdout_off", "", " --holdout_period 4", " --early_terminate 1"))
		if one(8) && !s.family && s.kind != classLabels {
			s.add(fmt.Sprintf("--initial_pass_length %d", 5+rng.IntN(60)))
		}
		if one(3) && !s.family {
			s.add("--decay_learning_rate " + pick("0.9", "0.5"))
		}
	}
	if one(6) {
		s.add("--predict_only_model")
	}
	if one(8) {
		s.add(pick("--initial_weight 0.1", "--random_weights", "--random_weights --random_seed 7", "--normal_weights", "--truncated_normal_weights"))
	}
	if one(10) && s.kind != classLabels {
		s.unkept(pick("--min_prediction -0.5", "--max_prediction 1.5", "--min_prediction 0 --max_prediction 1"))
	}
	return s
}

func (s *optionSet) drawClasses(rng *rand.Rand) {
	s.kind = classLabels
	s.add("--oaa 3")
	s.unkept([]string{"--loss_function logistic", "--loss_function hinge", "--loss_function logistic --probabilities", "--scores"}[rng.IntN(4)])
	if rng.IntN(4) == 0 {
		s.family = true
		s.add([]string{"--ftrl", "--ftrl --ftrl_alpha 0.1", "--pistol", "--coin", "--freegrad"}[rng.IntN(5)])
		return
	}
	s.drawRule(rng)
}

func (s *optionSet) drawFTRL(rng *rand.Rand) {
	s.kind, s.family = signLabels, true
	s.unkept("--loss_function logistic")
	s.add([]string{"--ftrl", "--ftrl --ftrl_alpha 0.1", "--pistol", "--coin", "--freegrad"}[rng.IntN(5)])
	if s.has("--freegrad") && rng.IntN(2) == 0 {
		s.unkept([]string{"--restart", "--project", "--project --radius 0.3", "--fepsilon 0.5 --restart"}[rng.IntN(4)])
	}
}

func (s *optionSet) drawLoss(rng *rand.Rand) {
	switch rng.IntN(10) {
	case 0, 1, 2:
		s.kind = signLabels
		s.unkept("--loss_function logistic")
		if rng.IntN(2) == 0 {
			s.add([]string{"--link logistic", "--binary", "--link glf1"}[rng.IntN(3)])
		}
	case 3:
		s.kind = signLabels
		s.unkept("--loss_function hinge")
	case 4:
		s.unkept("--loss_function classic")
	case 5:
		s.unkept("--loss_function quantile" + []string{"", " --quantile_tau 0.3"}[rng.IntN(2)])
	case 6:
		s.unkept("--loss_function expectile --expectile_q " + []string{"0.1", "0.45"}[rng.IntN(2)])
	case 7:
		s.kind = countLabels
		s.unkept("--loss_function poisson")
		s.add([]string{"--link poisson", "--binary"}[rng.IntN(2)])
	}
}

func (s *optionSet) drawRule(rng *rand.Rand) {
	switch rng.IntN(10) {
	case 0:
		s.add("--sgd -l 0.02")
	case 1:
		s.add("--adaptive")
	case 2:
		s.add("--normalized -l 0.1")
	case 3:
		s.add("--adaptive --normalized")
	case 4:
		s.add("--adaptive --invariant")
	case 5:
		s.add("--normalized --invariant -l 0.2")
	case 6:
		s.add("--adax")
	case 7:
		s.add("--invariant -l 0.1")
	}
	if s.has("-l") {
		// Options of the rule itself.
	} else if rng.IntN(4) == 0 {
		s.add("-l " + []string{"0.1", "0.3", "1"}[rng.IntN(3)])
	}
	if rng.IntN(5) == 0 {
		s.add("--power_t " + []string{"0.3", "0.4", "0.7"}[rng.IntN(3)])
	}
	if rng.IntN(8) == 0 {
		s.add("--initial_t " + []string{"1", "5"}[rng.IntN(2)])
	}
	if rng.IntN(8) == 0 {
		s.unkept("--l1 " + []string{"1e-5", "1e-3"}[rng.IntN(2)])
	}
	if rng.IntN(8) == 0 {
		s.unkept("--l2 " + []string{"1e-5", "1e-3"}[rng.IntN(2)])
	}
}

func (s *optionSet) drawFeatures(rng *rand.Rand) {
	some := func(n int, options ...string) {
		if rng.IntN(n) == 0 {
			s.add(options[rng.IntN(len(options))])
		}
	}
	some(3, "-q ab", "-q aa", "-q :a", "-q bc -q ca", "-q ::", "-q ab -q ba")
	some(10, "--cubic abc", "--cubic aab", "--cubic aaa")
	some(10, "--interactions abc", "--interactions ab --interactions aabb", "--interactions a::")
	some(12, "--permutations")
	some(12, "--leave_duplicate_interactions")
	some(10, "--ignore a", "--ignore b --ignore c")
	some(15, "--ignore_linear a", "--ignore_linear b")
	some(15, "--keep a --keep b", "--keep u")
	some(15, "--redefine b:=a", "--redefine z:=ab", "--redefine c:=:")
	some(10, "--affix +2a", "--affix +3,-1b", "--affix -2a,+1c")
	some(10, "--spelling a", "--spelling b --spelling _")
	some(8, "--hash all", "--hash strings", "--hash_seed 3")
	some(8, "--noconstant", "--constant 1.5")
	some(15, "--chain_hash")
	if rng.IntN(10) == 0 {
		s.units = append(s.units, unit{strings.Fields([]string{"--ngram 2", "--ngram a2", "--ngram a3 --skips a1", "--ngram 2 --skips 1"}[rng.IntN(4)]), true, true})
	}
	if rng.IntN(8) == 0 {
		s.unkept("--feature_limit " + []string{"2", "3", "a1", "a2 --feature_limit b3", "5"}[rng.IntN(5)])
	}
}

func (s *optionSet) has(word string) bool {
	all, _ := s.words()
	return slices.Contains(all, word)
}
