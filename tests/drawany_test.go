// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/gvw-project/gvw/internal/compat"
)

// notDrawn lists the options that read or write files of their own, start a server, or end
// before any data is read. Pass boundaries of --svrg depend on the time that vw's parser takes.
var notDrawn = strings.Fields(`help version dry_run data initial_regressor final_regressor predictions
	readable_model audit_regressor active daemon foreground port pid_file port_file num_children
	span_server span_server_port node total unique_id json dsjson csv flatbuffer
	args cache kill_cache no_stdin onethread dump_json_weights_experimental save_resume
	output_feature_regularizer_binary output_feature_regularizer_text per_feature_regularizer_input
	input_feature_regularizer dictionary_path cb_to_cbadf svrg`)

// drawnValues holds values of options, valid ones first.
var drawnValues = map[string]string{
	"loss_function":                "squared logistic hinge quantile classic poisson expectile wrong",
	"link":                         "identity logistic glf1 poisson wrong",
	"hash":                         "all strings wrong",
	"ignore":                       "a b z",
	"ignore_linear":                "a b",
	"keep":                         "a b z",
	"redefine":                     "b:=a z:=ab := = a:= wrong",
	"bit_precision":                "12 5 18 0 40",
	"constant":                     "1.5 0 -1",
	"ngram":                        "2 a2 1 0 a1 -1",
	"skips":                        "1 a1 0",
	"feature_limit":                "2 a1 0 i:2",
	"affix":                        "+2a +3,-1b +9a wrong",
	"spelling":                     "a _",
	"dictionary":                   "words a:words nofile",
	"interactions":                 "ab abc aa a",
	"quadratic":                    "ab aa :: a abc",
	"cubic":                        "abc aab ab",
	"cache_file":                   "OWN.cache",
	"progress":                     "3 2.0 0.5 1.0 0 -1 x",
	"passes":                       "1 2 0 -1",
	"examples":                     "20 100 0 -1",
	"initial_pass_length":          "10 0 -1",
	"holdout_period":               "4 0 1",
	"holdout_after":                "20 0",
	"early_terminate":              "1 0",
	"min_prediction":               "-0.2 1",
	"max_prediction":               "0.3 -1",
	"l1":                           "1e-3 0 -1",
	"l2":                           "1e-3 0 -1",
	"hogwild":                      "1 0 -1 x",
	"threads":                      "2 1 0 -1 x",
	"learning_rate":                "0.3 0 -1 x",
	"power_t":                      "0.4 0 2 -1",
	"initial_t":                    "1 0 -1",
	"decay_learning_rate":          "0.9 0",
	"initial_weight":               "0.1 0",
	"random_seed":                  "5 0 -1",
	"oaa":                          "3 2 1 0",
	"oaa_subsample":                "2 3 0",
	"indexing":                     "0 1 2",
	"named_labels":                 "one,two,three",
	"quantile_tau":                 "0.3 0 2",
	"expectile_q":                  "0.2 0.6 0",
	"logistic_min":                 "0 2",
	"logistic_max":                 "2 -2",
	"ftrl_alpha":                   "0.1 0",
	"ftrl_beta":                    "0.5 0",
	"fepsilon":                     "0.5 0",
	"flipschitz_const":             "2 0 -1",
	"radius":                       "0.4 0",
	"stage_size":                   "2 0",
	"classweight":                  "1:2 1:2,-1:0.5 wrong",
	"mem":                          "5 0",
	"termination":                  "0.01 0",
	"log_level":                    "info warn off wrong",
	"log_output":                   "stderr stdout compat wrong",
	"limit_output":                 "3 0",
	"driver_output":                "stderr stdout wrong",
	"csv_separator":                "; ,",
	"csv_header":                   "a,b",
	"csv_ns_value":                 "a:0.5",
	"extra_metrics":                "OWN.metrics",
	"feature_mask":                 "nofile",
	"id":                           "name",
	"csoaa":                        "3 2 0",
	"multilabel_oaa":               "3 2 0",
	"ect":                          "3 2 0",
	"error":                        "1 0 2",
	"log_multi":                    "3 2 1 0",
	"swap_resistance":              "1 4 0",
	"lambda":                       "0.5",
	"l1_state":                     "0.5 0",
	"l2_state":                     "0.5 1",
	"privacy_activation_threshold": "5",
	"raw_predictions":              "OWN.raw",
	"invert_hash":                  "OWN.inv",
	"reprocess":                    "1 2",
	"top":                          "2",
	"replay_b":                     "100 10",
	"replay_c":                     "100 10",
	"replay_m":                     "100 10",
	"lda_D":                        "100 0 -1",
	"lda_epsilon":                  "0.01 0 -1",
	"minibatch":                    "2 8 0 -1",
	"math_mode":                    "1 0 2 7",
	"lrq":                          "ab2 aa1 a wrong",
	"lrqfa":                        "ab2 abc1 a",
	"nn":                           "2 3",
	"new_mf":                       "2 1",
	"rank":                         "2 1",
	"bootstrap":                    "3 2",
	"boosting":                     "3 2",
	"alg":                          "BBM logistic adaptive wrong",
	"gamma":                        "0.2 0",
	"marginal":                     "a b c",
	"initial_denominator":          "2 0.5",
	"initial_numerator":            "0 1",
	"decay":                        "0.01 0",
	"sched_exponent":               "0.5 2 0",
	"batch_sz":                     "10 3 0 1000",
	"bs_type":                      "mean vote wrong",
}

// spellings holds the names of options whose name in the table is another one.
var spellings = map[string]string{"math_mode": "math-mode"}

// drawAny draws two or three options, mostly options that gvw has, and sometimes enables their
// learner.
func drawAny(rng *rand.Rand) [][]string {
	all := slices.DeleteFunc(compat.All(), func(o compat.Option) bool { return slices.Contains(notDrawn, o.Name) })
	known := slices.DeleteFunc(slices.Clone(all), func(o compat.Option) bool {
		return o.Class == compat.Refused || o.Class == compat.Later
	})
	var units [][]string
	n := 2 + rng.IntN(2)
	for len(units) < n {
		from := known
		if rng.IntN(4) == 0 {
			from = all
		}
		o := from[rng.IntN(len(from))]
		if slices.ContainsFunc(units, func(u []string) bool { return u[0] == "--"+o.Name }) {
			continue
		}
		unit := []string{"--" + cmp.Or(spellings[o.Name], o.Name)}
		if o.Values != compat.None {
			values := strings.Fields(drawnValues[o.Name])
			if len(values) == 0 {
				values = strings.Fields("1 2 0.5 0 -1")
			}
			unit = append(unit, values[min(rng.IntN(len(values)), rng.IntN(len(values)))])
		}
		units = append(units, unit)
	}
	switch rng.IntN(8) {
	case 0:
		units = append(units, []string{"--oaa", "3"})
	case 1:
		units = append(units, []string{"--passes", "2", "-k", "--cache_file", "OWN.cache"})
	case 2:
		units = append(units, []string{[]string{"--bfgs", "--ftrl", "--coin", "--pistol", "--freegrad"}[rng.IntN(5)]})
	case 3:
		units = append(units, []string{"--quadratic", "ab"})
	case 4:
		units = append(units, strings.Fields(batch))
	}
	// A repeated option is an error of vw, or a list.
	seen := map[string]bool{}
	return slices.DeleteFunc(units, func(u []string) bool {
		twice := slices.ContainsFunc(u, func(word string) bool { return seen[word] })
		for _, word := range u {
			seen[word] = strings.HasPrefix(word, "--")
		}
		return twice
	})
}

// batch are options with which vw trains by L-BFGS.
const batch = " --bfgs --predict_only_model --l2 1 --passes 3 -k --cache_file OWN.cache"

// composedDifferences are the options beside which gvw composes no learner.
func composedDifferences() (all []difference) {
	for _, learner := range []string{"--lrqfa ab2", "--nn 2", "--new_mf 1", "--bootstrap 3", "--boosting 2", "--stage_poly", "--marginal a"} {
		for _, other := range []string{batch, " --ftrl", " --coin", " --pistol", " --freegrad", " --oaa 3"} {
			all = append(all, difference{learner + other, false, "gvw composes one learner at a time, by SGD only"})
		}
	}
	for _, learner := range []string{"--ect 3", "--log_multi 3"} {
		for _, other := range []string{batch, " --ftrl", " --coin", " --pistol", " --freegrad"} {
			all = append(all, difference{learner + other, false, "gvw composes learners by SGD only"})
		}
	}
	return all
}

var knownDifferences = slices.Concat(composedDifferences(), []difference{
	{"--marginal a --quadratic ab", false, "interactions would cross ids instead of means"},
	{"--marginal a --update_before_learn", true, "vw never updates the means with it"},
	{"--new_mf 1 --boosting 3", false, "gvw composes one learner at a time"},
	{"--alg wrong", true, "vw looks at the value only if the learner is enabled"},
	{"--initial_pass_length 10 --freegrad", false, "gvw ends passes early only of plain SGD"},
	{"--math-mode 7", true, "vw looks at the value only if there are topics"},
	{"--lrqfa ab2 --quadratic ab", false, "vw also crosses the products"},
	{"--audit --bootstrap 3", false, "the features of the learner have no names"},
	{"--multilabel_oaa 3", false, "the text has no lists of classes, and vw takes parts of numbers"},
	{"--csoaa 3", false, "the text has no labels of classes, whose hashes vw takes for classes"},
	{"--lrqfa a", true, "one namespace has no pairs: an odd value"},
	{"--bs_type wrong", true, "vw looks at the value only if the learner is enabled"},
	{"--lrq ab2 --ftrl", false, "gvw composes this learner of linear learners by SGD"},
	{"--lrq ab2 --quadratic ab", false, "vw also crosses the products"},
	{"--lrq ab2 --cubic abc", false, "vw also crosses the products"},
	{"--rank 2", false, "vw prints addresses for factors into its text"},
	{"--rank 1", false, "vw prints addresses for factors into its text"},
	{"--lda 2", false, "vw adds an empty document at the end of the data"},
	{"--lda_alpha 0", true, "vw looks at the value only if there are topics"},
	{"--lda_rho 0", true, "vw looks at the value only if there are topics"},
	{"--stage_size 2" + batch, false, "vw reads the options of SVRG only without L-BFGS"},
	{"--ftrl_alpha 0.1" + batch, false, "vw reads the options of FTRL only without L-BFGS"},
	{"--oaa 3" + batch, false, "gvw's L-BFGS learns one model"},
	{"--ftrl_beta 0" + batch, false, "vw reads the options of FTRL only without L-BFGS"},
	{"--passes 2", true, "vw needs a cache for several passes; gvw reads a file again"},
	{"--holdout_period 0", true, "every 0th example: an odd value"},
	{"--oaa 0", true, "no class: an odd value"},
	{"--named_labels one,two,three --oaa 3", false, "vw takes an unknown name before the last one was seen for the label 0, and renumbers the classes"},
	{"--binary --oaa 3", false, "a class has no sign"},
	{"--initial_pass_length 10 --oaa 3", false, "gvw ends passes early only of plain SGD"},
	{"--initial_pass_length 10 --coin", false, "gvw ends passes early only of plain SGD"},
	{"--initial_pass_length 10 --ftrl", false, "gvw ends passes early only of plain SGD"},
	{"--initial_pass_length 10 --pistol", false, "gvw ends passes early only of plain SGD"},
	{"--sparse_weights --random_weights", true, "vw draws other numbers for a sparse table"},
	{"--link glf1 --oaa 3", false, "as vw learns classes, it takes the linked scores for raw ones"},
	{"--oaa_subsample 2 --oaa 3", true, "vw accounts labeled examples as unlabeled"},
	{"--ftrl_alpha 0 --ftrl", true, "all predictions are NaN, which vw prints as 0"},
	{"--ftrl_alpha 0 --pistol", true, "all predictions are NaN, which vw prints as 0"},
	{"--metrics", true, "vw's takes no value; gvw's names measures"},
	{"--indexing 2", true, "vw looks at the value only if there are classes"},
	{"--classweight 1:2 --oaa 3 --scores", false, "vw has no weights of classes beside scores; gvw has"},
	{"--classweight 1:2 --oaa 3 --probabilities", false, "vw has no weights of classes beside probabilities; gvw has"},
	{"--cb_type 0", false, "vw prints the option, though no learner takes it"},
	{"--binary --coin --classweight 1:2", false, "vw accounts the sign of another prediction than it shows"},
	{"--testonly" + batch, false, "vw reads nothing there"},
	{"--skips 0 --ngram 2", true, "no feature is skipped: an odd value"},
	{"--initial_pass_length 10" + batch, false, "gvw ends passes early only of plain SGD"},
	{"--holdout_period 1" + batch, true, "all examples are held out: an odd value"},
	{"--loss_function poisson" + batch, true, "the loss of a label below 0 is NaN, at which gvw ends"},
	{"--feature_limit 0" + batch, true, "gvw also says that the derivative is 0"},
	{"--interactions ab" + batch, false, "vw's count of features leaves out products with L-BFGS"},
	{"--cubic abc" + batch, false, "vw's count of features leaves out products with L-BFGS"},
	{"--audit" + batch, true, "gvw shows SGD and its like as they learn, not L-BFGS"},
	{"--quadratic ab" + batch, false, "vw's count of features leaves out products with L-BFGS"},
	{"--conjugate_gradient --passes 2 -k --cache_file OWN.cache", true, "vw cannot save a model of --conjugate_gradient without --bfgs; gvw can"},
})
