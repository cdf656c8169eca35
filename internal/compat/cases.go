// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"slices"
	"sync"
)

// Cases returns the table of combinations of vw's options, which the caller must not
// change. A command line that no case covers has the effect that it has in vw.
func Cases() []Case { return cases() }

var cases = sync.OnceValue(func() []Case { return slices.Concat(silent, noted, rejected, composedCases()) })

const (
	notCSV     = "the data is not CSV"
	notBFGS    = "only L-BFGS takes it"
	otherRule  = "the learner has no such setting; only the table shows it"
	onePass    = "one pass holds nothing out"
	noHoldout  = "nothing is held out"
	nothing    = "nothing is learned"
	noModel    = "no model is written"
	byDefault  = "the same as leaving it out"
	noCrossing = "there are no interactions"
)

// silent are the cases in which the option has no effect in vw. Scripts that share options among
// commands have them, so gvw prints no note.
var silent = []Case{
	{Options: "kill_cache", Without: "cache cache_file", Class: Silent, Text: "there is no cache to rebuild", Example: "-d train.vw -k"},
	{Options: "random_seed", Without: "random_weights oaa_subsample shuffle lrq lrqfa nn new_mf rank bootstrap boosting", Class: Silent, Text: "nothing is drawn; the model keeps the seed", Example: "-d train.vw --random_seed 5"},
	{Options: "progress", With: "quiet", Class: Silent, Text: "there is no table", Example: "-d train.vw --quiet -P 3"},
	{Options: "predict_only_model", Without: "final_regressor readable_model invert_hash span_server", Class: Silent, Text: noModel, Example: "-d train.vw --predict_only_model"},
	{Options: "id", Without: "final_regressor readable_model invert_hash span_server", Class: Silent, Text: noModel, Example: "-d train.vw --id mine"},
	{Options: "preserve_performance_counters", Without: "initial_regressor", Class: Silent, Text: "there are no counters to go on from", Example: "-d train.vw --preserve_performance_counters"},
	{Options: "preserve_performance_counters", With: "bfgs|conjugate_gradient", Class: Silent, Text: "each run of L-BFGS has counters of its own", Example: "-d train.vw --bfgs --passes 4 --cache_file c -k --preserve_performance_counters"},
	{Options: "permutations", Without: "quadratic cubic interactions", Class: Silent, Text: noCrossing, Example: "-d train.vw --permutations"},
	{Options: "leave_duplicate_interactions", Without: "quadratic cubic interactions", Class: Silent, Text: noCrossing, Example: "-d train.vw --leave_duplicate_interactions"},
	{Options: "csv_separator", Without: "csv", Class: Silent, Text: notCSV, Example: "-d train.vw --csv_separator ;"},
	{Options: "csv_no_file_header", Without: "csv", Class: Silent, Text: notCSV, Example: "-d train.vw --csv_no_file_header"},
	{Options: "csv_header", Without: "csv", Class: Silent, Text: notCSV, Example: "-d train.vw --csv_header a,b"},
	{Options: "csv_ns_value", Without: "csv", Class: Silent, Text: notCSV, Example: "-d train.vw --csv_ns_value a:0.5"},
	{Options: "mem", Without: "bfgs hybrid", Class: Silent, Text: notBFGS, Example: "-d train.vw --mem 5"},
	{Options: "hessian_on", Without: "bfgs hybrid", Class: Silent, Text: notBFGS, Example: "-d train.vw --hessian_on"},
	{Options: "termination", Without: "bfgs conjugate_gradient hybrid", Class: Silent, Text: notBFGS, Example: "-d train.vw --termination 0.1"},
	{Options: "no_bias_regularization", Without: "bfgs conjugate_gradient hybrid", Class: Silent, Text: notBFGS, Example: "-d train.vw --l2 0.1 --no_bias_regularization"},
	{Options: "no_bias_regularization", With: "noconstant", Class: Silent, Text: "there is no constant to spare", Example: "-d train.vw --bfgs --passes 4 --cache_file c -k --l2 0.1 --noconstant --no_bias_regularization"},
	{Options: "learning_rate power_t initial_t decay_learning_rate", With: "bfgs|conjugate_gradient", Class: Silent, Text: otherRule, Example: "-d train.vw --bfgs --passes 4 --cache_file c -k --holdout_off -l 3 --power_t 0.3 --initial_t 4 --decay_learning_rate 0.4"},
	{Options: "learning_rate power_t initial_t decay_learning_rate", With: "ftrl|pistol|coin|freegrad", Class: Silent, Text: otherRule, Example: "-d train.vw --ftrl --passes 3 --cache_file c -k -l 3 --power_t 0.3 --initial_t 4 --decay_learning_rate 0.4"},
	{Options: "holdout_period", Without: "passes hybrid", Class: Silent, Text: onePass, Example: "-d train.vw --holdout_period 5"},
	{Options: "early_terminate", Without: "passes hybrid holdout_after", Class: Silent, Text: onePass, Example: "-d train.vw --early_terminate 2"},
	{Options: "holdout_period holdout_after early_terminate", With: "holdout_off", Class: Silent, Text: noHoldout, Example: "-d train.vw --passes 3 --cache_file c -k --holdout_off --holdout_period 5 --early_terminate 1"},
	{Options: "holdout_period", With: "holdout_after", Class: Silent, Text: "--holdout_after decides", Example: "-d train.vw --passes 2 --cache_file c -k --holdout_after 20 --holdout_period 5"},
	{Options: "holdout_after", Value: "0", Class: Silent, Text: byDefault, Example: "-d train.vw --passes 2 --cache_file c -k --holdout_after 0"},
	{Options: "examples", Value: "-1", Class: Silent, Text: byDefault, Example: "-d train.vw --examples -1"},
	{Options: "initial_pass_length", Value: "-1", Class: Silent, Text: byDefault, Example: "-d train.vw --initial_pass_length -1"},
	{Options: "oaa_subsample", Value: "0", Class: Silent, Text: byDefault, Example: "-d multi.vw --oaa 3 --oaa_subsample 0"},
	{Options: "oaa_subsample", With: "oaa_subsample>=oaa", Class: Silent, Text: "all the other classes learn", Example: "-d multi.vw --oaa 3 --oaa_subsample 3"},
	{Options: "scores", With: "oaa probabilities", Class: Silent, Text: "--probabilities decides", Example: "-d multi.vw --oaa 3 --loss_function logistic --probabilities --scores"},
	{Options: "link", With: "oaa probabilities", Class: Silent, Text: "predictions are probabilities in any case", Example: "-d multi.vw --oaa 3 --loss_function logistic --probabilities --link logistic"},
	{Options: "indexing", Value: "1", With: "named_labels oaa", Class: Silent, Text: "names count from 1", Example: "-d named.vw --oaa 3 --named_labels red,green,blue --indexing 1"},
	{Options: "adax sparse_l2 decay_learning_rate", With: "testonly", Class: Silent, Text: nothing, Example: "-d train.vw -f m --quiet ;; -d train.vw -t -i m --adax --sparse_l2 0.1 --decay_learning_rate 0.4"},
	{Options: "power_t initial_t decay_learning_rate", With: "svrg", Class: Silent, Text: otherRule, Example: "-d train.vw --svrg --power_t 0.3 --initial_t 4 --decay_learning_rate 0.4"},
	{Options: "classweight", With: "testonly", Class: Silent, Text: "only what is learned from has the weight of its class", Example: "-d train.vw -f m --quiet ;; -d train.vw -t -i m --classweight 1:3"},
	{Options: "ngram", Value: `\D?[01]`, Class: Silent, Text: "a 1-gram is the feature itself", Example: "-d train.vw --ngram 1 --ngram b0"},
	{Options: "redefine", Value: `.?:=|=`, Class: Silent, Text: "features without a namespace stay where they are", Example: "-d plain.vw --redefine a:= --redefine = --redefine :="},
	{Options: "total", Value: "1", With: "unique_id node", Without: "span_server spare", Class: Silent, Text: "one process needs no server", Example: "-d train.vw --node 0 --unique_id 0 --total 1"},
	{Options: "span_server_port", Without: "span_server", Class: Silent, Text: "there is no server", Example: "-d train.vw --span_server_port 1234"},
}

// regulariser is the command line that prepares a file of regularisers.
const regulariser = "-d train.vw --bfgs --passes 40 --cache_file c -k --l2 1 --output_feature_regularizer_binary r --predict_only_model --quiet ;; "

const outputRegularisers = "output_feature_regularizer_binary output_feature_regularizer_text"

const (
	asVW       = "ignored, as in vw"
	notClasses = "ignored, as in vw: there are no classes"
	oneStart   = "ignored, as in vw"
	inText     = "ignored, as in vw: only text has it"
	noL1       = "ignored, as in vw: the learner has no such regularisation"
)

// noted are the cases in which the user has probably forgotten something. Text describes
// the effect, which is the same in vw.
var noted = []Case{
	{Options: "l1", With: "bfgs|conjugate_gradient", Class: Noted, Text: noL1, Example: "-d train.vw --bfgs --passes 4 --cache_file c -k --holdout_off --l1 0.1"},
	{Options: "l1 l2", With: "pistol|coin|freegrad|svrg", Class: Noted, Text: noL1, Example: "-d train.vw --coin --l1 0.1 --l2 0.1"},
	{Options: "l1 l2", Value: "-.*", Class: Noted, Text: "read as 0, as in vw", Example: "-d train.vw --l1 -0.1 --l2 -0.1"},
	{Options: "l2", With: "input_feature_regularizer", Class: Noted, Text: "ignored, as in vw: the file has a regulariser of each weight", Example: regulariser + "-d train.vw --bfgs --passes 4 --cache_file c -k --input_feature_regularizer r --predict_only_model --l2 0.5"},
	{Options: outputRegularisers, Without: "bfgs conjugate_gradient hybrid", Class: Noted, Text: "the file gets the model, as in vw: only L-BFGS has regularisers", Example: "-d train.vw --passes 3 --cache_file c -k --output_feature_regularizer_binary o --output_feature_regularizer_text o.txt"},
	{Options: outputRegularisers, With: "testonly", Class: Noted, Text: "the file gets the model, as in vw: nothing is learned", Example: "-d train.vw --bfgs --passes 4 --cache_file c -k --predict_only_model --quiet -f m ;; -d train.vw -t -i m --predict_only_model --output_feature_regularizer_text o"},
	{Options: "holdout_period holdout_after early_terminate", With: "output_feature_regularizer_binary|output_feature_regularizer_text", Class: Noted, Text: "ignored, as in vw: nothing is held out", Example: "-d train.vw --passes 4 --cache_file c -k --holdout_period 5 --holdout_after 9 --early_terminate 1 --output_feature_regularizer_text o"},
	{Options: "save_per_pass", Without: "final_regressor span_server", Class: Noted, Text: "the models are called .1, .2 and so on, as in vw", Example: "-d train.vw --passes 2 --cache_file c -k --save_per_pass"},
	{Options: "probabilities", Without: "oaa csoaa multilabel_oaa", Class: Noted, Text: notClasses, Example: "-d train.vw --probabilities"},
	{Options: "scores oaa_subsample", Without: "oaa", Class: Noted, Text: notClasses, Example: "-d train.vw --scores --oaa_subsample 2"},
	{Options: "indexing", Without: "oaa csoaa", Class: Noted, Text: notClasses, Example: "-d train.vw --indexing 0"},
	{Options: "named_labels", Without: "oaa", Class: Noted, Text: notClasses, Example: "-d train.vw --named_labels a,b"},
	{Options: "error", Without: "ect", Class: Noted, Text: notClasses, Example: "-d train.vw --error 2"},
	{Options: "no_progress swap_resistance", Without: "log_multi", Class: Noted, Text: notClasses, Example: "-d train.vw --no_progress --swap_resistance 2"},
	{Options: "cs_absolute_loss", Without: "csoaa", Class: Noted, Text: notClasses, Example: "-d train.vw --cs_absolute_loss"},
	{Options: "raw_predictions", With: "oaa probabilities|scores", Class: Noted, Text: "the file stays empty, as in vw: -p has the numbers", Example: "-d multi.vw --oaa 3 --scores -r r"},
	{Options: "dont_output_best_constant", With: "oaa|csoaa|multilabel_oaa|ect|log_multi", Class: Noted, Text: "ignored, as in vw: only simple labels have a best constant", Example: "-d multi.vw --oaa 3 --dont_output_best_constant"},
	{Options: "binary", With: "link=logistic|link=poisson", Class: Noted, Text: "every prediction is 1, as in vw, where the sign is that of the link's value: leave --link out", Example: "-d train.vw --loss_function logistic --link logistic --binary"},
	{Options: "lda_alpha lda_rho lda_D lda_epsilon minibatch math_mode", Without: "lda initial_regressor", Class: Noted, Text: asVW, Example: "-d train.vw --lda_alpha 0.1 --lda_rho 0.1 --lda_D 10 --lda_epsilon 0.1 --minibatch 2 --math-mode 1"},
	{Options: "ftrl_alpha ftrl_beta", Without: "ftrl pistol coin", Class: Noted, Text: asVW, Example: "-d train.vw --ftrl_alpha 0.1 --ftrl_beta 0.1"},
	{Options: "fepsilon flipschitz_const restart project radius", Without: "freegrad", Class: Noted, Text: asVW, Example: "-d train.vw --fepsilon 0.5 --flipschitz_const 2 --restart --project --radius 3"},
	{Options: "radius", With: "freegrad", Without: "project", Class: Noted, Text: "ignored, as in vw: only --project has a radius", Example: "-d train.vw --freegrad --radius 3"},
	{Options: "stage_size", Without: "svrg", Class: Noted, Text: asVW, Example: "-d train.vw --stage_size 2"},
	{Options: "constant", With: "bfgs|conjugate_gradient|ftrl|pistol|coin|freegrad|rank|svrg", Class: Noted, Text: "ignored, as in vw: the learner starts at other weights", Example: "-d train.vw --ftrl --constant 2"},
	{Options: "lrqdropout", Without: "lrq", Class: Noted, Text: asVW, Example: "-d train.vw --lrqdropout"},
	{Options: "inpass multitask dropout meanfield", Without: "nn", Class: Noted, Text: asVW, Example: "-d train.vw --inpass --multitask --dropout --meanfield"},
	{Options: "gamma alg", Without: "boosting", Class: Noted, Text: asVW, Example: "-d train.vw --gamma 0.2 --alg logistic"},
	{Options: "initial_denominator initial_numerator compete update_before_learn unweighted_marginals decay", Without: "marginal", Class: Noted, Text: asVW, Example: "-d train.vw --initial_denominator 2 --initial_numerator 1 --compete --update_before_learn --unweighted_marginals --decay 0.1"},
	{Options: "sched_exponent batch_sz batch_sz_no_doubling", Without: "stage_poly", Class: Noted, Text: asVW, Example: "-d train.vw --sched_exponent 0.5 --batch_sz 10 --batch_sz_no_doubling"},
	{Options: "bs_type", Without: "bootstrap", Class: Noted, Text: asVW, Example: "-d train.vw --bs_type vote"},
	{Options: "constant", With: "noconstant", Class: Noted, Text: "no example has the constant feature; the model keeps its weight, as in vw", Example: "-d train.vw --noconstant --constant 2"},
	{Options: "random_weights normal_weights truncated_normal_weights", With: "initial_weight", Class: Noted, Text: oneStart, Example: "-d train.vw -b 10 --initial_weight 0.1 --random_weights --normal_weights --truncated_normal_weights"},
	{Options: "normal_weights truncated_normal_weights", With: "random_weights", Class: Noted, Text: oneStart, Example: "-d train.vw -b 10 --random_weights --normal_weights --truncated_normal_weights"},
	{Options: "truncated_normal_weights", With: "normal_weights", Class: Noted, Text: oneStart, Example: "-d train.vw -b 10 --normal_weights --truncated_normal_weights"},
	{Options: "progress", Value: `-\d+|0`, Without: "quiet", Class: Noted, Text: "read as 1, as in vw", Example: "-d train.vw -P 0"},
	{Options: "progress", Value: `0?\.\d+|[01]\.0*|0\.\d*`, Without: "quiet", Class: Noted, Text: "1 is added, as in vw", Example: "-d train.vw -P 0.5"},
	{Options: "passes", Value: "0", Class: Noted, Text: "read as 1, as in vw", Example: "-d train.vw --passes 0"},
	{Options: "random_seed", Value: `184467440737095516\d\d|184467440737095\d{5}`, Class: Noted, Text: "read from a negative number, which counts down from 2^64, as in vw", Example: "-d train.vw --random_seed -1"},
	{Options: "hash_seed", Value: `42949672\d\d`, Class: Noted, Text: "read from a negative number, which counts down from 2^32, as in vw", Example: "-d train.vw --hash_seed -1"},
	{Options: "feature_mask", With: "initial_regressor feature_mask!=initial_regressor", Class: Noted, Text: "only the weights that are not 0 in -i are trained; nothing else is taken from the mask, as in vw", Example: "-d train.vw -f a --quiet ;; -d plain.vw -f b --quiet ;; -d train.vw -i b --feature_mask a"},
	{Options: "feature_limit", Value: `\D:.*`, Class: Noted, Text: "the limit is read as 0, as in vw: write i2 for two features of namespace i", Example: "-d train.vw --feature_limit a:2"},
	{Options: "csv", With: "json", Class: Noted, Text: "the data is read as JSON, as in vw", Example: "-d train.json --json --csv"},
	{Options: "redefine", Value: `[^=:][^=]+:=.*`, Class: Noted, Text: "the first character is the new namespace, as in vw", Example: "-d train.vw --redefine ba:=a"},
	{Options: "spelling", Value: `[^\\].+`, Class: Noted, Text: "the first character is the namespace, as in vw", Example: "-d train.vw --spelling ab"},
	{Options: "redefine affix spelling", With: "json|csv", Class: Noted, Text: inText, Example: "-d train.json --json --redefine b:=a --affix +2a --spelling a"},
}

const (
	vwRefuses = "vw refuses it, too"
	noRule    = "the learner has no such setting, and vw refuses it, too"
	threeOf   = "these are different learners, and vw refuses it, too"
	OddValue  = "its result in vw is of no use"
)

// ruleOptions are the options of SGD's update rule, which other learners do not have.
var ruleOptions = "sgd adaptive normalized invariant adax sparse_l2 l1_state l2_state"

// rejected are the cases whose result would differ from vw's or is useless in vw, and
// those that vw refuses.
var rejected = []Case{
	{Options: ruleOptions, With: "bfgs|conjugate_gradient", Class: Refused, Text: noRule, Example: "-d train.vw --bfgs --passes 4 --cache_file c -k --adaptive"},
	{Options: ruleOptions, With: "ftrl|pistol|coin|freegrad", Class: Refused, Text: noRule, Example: "-d train.vw --ftrl --l1_state 0.1"},
	{Options: "ignore_linear", With: "lrq|lrqfa|rank|marginal", Class: Refused, Text: "in vw it changes more than the linear features of these learners: leave one of them out", Example: "-d train.vw --lrq ab3 --ignore_linear a"},
	{Options: "quadratic cubic interactions", With: "lrq|lrqfa", Class: Refused, Text: "interactions would also cross the products, as in vw, where they are seldom meant: leave one of them out", Example: "-d train.vw --lrq ab3 -q ab"},
	{Options: "link", With: "boosting", Class: Refused, Text: "its predictions are sums of several", Example: "-d train.vw --boosting 3 --link logistic"},
	{Options: "link", With: "bootstrap", Class: Refused, Text: "its predictions are means of several", Example: "-d train.vw --bootstrap 4 --link logistic"},
	{Options: ruleOptions, With: "svrg", Class: Refused, Text: noRule, Example: "-d train.vw --svrg --adaptive"},
	{Options: ruleOptions, With: "rank", Class: Refused, Text: noRule, Example: "-d train.vw --rank 2 --adaptive"},
	{Options: "cubic interactions", With: "rank", Class: Refused, Text: "it factorises pairs: use --quadratic", Example: "-d train.vw --rank 2 --cubic abb"},
	{Options: "cubic interactions", With: "new_mf", Class: Refused, Text: "it factorises pairs: use --quadratic", Example: "-d train.vw --new_mf 2 --cubic abb"},
	{Options: "quadratic cubic interactions", With: "stage_poly", Value: `.*:.*`, Class: Refused, Text: "it chooses products itself", Example: "-d train.vw --stage_poly -q ::"},
	{Options: "update_before_learn", With: "marginal", Class: Refused, Text: "with it vw 9.11.9 never updates the means: leave it out", Example: "-d train.vw --marginal a --update_before_learn"},
	{Options: "feature_mask", With: "bfgs|conjugate_gradient|ftrl|pistol|coin|freegrad", Class: Refused, Text: "only SGD has a mask; in vw training would start from the file: use -i", Example: "-d train.vw -f m --quiet ;; -d train.vw --ftrl --feature_mask m"},
	{Options: "adax", With: "sgd|normalized|invariant", Without: "adaptive", Class: Refused, Text: "it changes the sums of --adaptive, which the given rule does not have: add --adaptive", Example: "-d train.vw --sgd --adax"},
	{Options: "conjugate_gradient", With: "bfgs", Class: Refused, Text: "--mem 0 makes conjugate gradients of --bfgs; " + vwRefuses, Example: "-d train.vw --bfgs --conjugate_gradient --passes 3 --cache_file c -k"},
	{Options: "coin", With: "ftrl|pistol", Class: Refused, Text: threeOf, Example: "-d train.vw --ftrl --coin"},
	{Options: "freegrad", With: "ftrl|pistol|coin", Class: Refused, Text: threeOf, Example: "-d train.vw --freegrad --coin"},
	{Options: "pistol", With: "ftrl", Class: Refused, Text: threeOf, Example: "-d train.vw --ftrl --pistol"},
	{Options: "audit", With: "span_server", Class: Refused, Text: "it needs names, which only one process that reads the text has"},
	{Options: "extra_metrics", With: "span_server|hybrid", Class: Refused, Text: "it counts the calls of one learner in one process"},
	{Options: "invert_hash", With: "span_server|cache|cache_file", Class: Refused, Text: "it needs names, which only one process that reads the text has: train first, then write it with -t -i MODEL", Example: "-d train.vw --cache_file c -k --invert_hash h"},
	{Options: "skips", Without: "ngram", Class: Refused, Text: "n-grams skip features; " + vwRefuses, Example: "-d train.vw --skips 1"},
	{Options: "sort_features", With: "ngram", Class: Refused, Text: "n-grams need the order of the text; " + vwRefuses, Example: "-d train.vw --ngram 2 --sort_features"},
	{Options: "quantile_tau", Without: "loss_function=quantile", Class: Refused, Text: vwRefuses, Example: "-d train.vw --quantile_tau 0.3"},
	{Options: "expectile_q", Without: "loss_function=expectile", Class: Refused, Text: vwRefuses, Example: "-d train.vw --expectile_q 0.3"},
	{Options: "logistic_min logistic_max", Without: "loss_function=logistic", Class: Refused, Text: vwRefuses, Example: "-d train.vw --logistic_min 0"},
	{Options: "indexing", Value: "0", With: "named_labels oaa", Class: Refused, Text: "names count from 1; in vw they shift by one", Example: "-d named.vw --oaa 3 --named_labels red,green,blue --indexing 0"},
	{Options: "initial_pass_length", With: "bfgs|conjugate_gradient|hybrid|span_server|shuffle|oaa|ftrl|pistol|coin|freegrad|svrg", Class: Refused, Text: "it is for plain SGD in one process", Example: "-d train.vw --ftrl --passes 2 --cache_file c -k --initial_pass_length 5"},
	{Options: "examples", With: "span_server", Class: Refused, Text: "each rank would read its own first examples; cut the data"},
	{Options: "input_feature_regularizer", Without: "bfgs conjugate_gradient", Class: Refused, Text: "only L-BFGS takes it: add --bfgs and --passes N", Example: regulariser + "-d train.vw --input_feature_regularizer r"},
	{Options: "input_feature_regularizer", With: "testonly", Class: Refused, Text: nothing, Example: regulariser + "-d train.vw -t --bfgs --input_feature_regularizer r --predict_only_model"},
	{Options: "min_prediction", With: "min_prediction>max_prediction", Class: Refused, Text: "it is above --max_prediction; " + OddValue, Example: "-d train.vw --min_prediction 2 --max_prediction 1"},
	{Options: "bit_precision", Value: "0", Class: Refused, Text: OddValue, Example: "-d train.vw -b 0"},
	{Options: "examples", Value: "0", Class: Refused, Text: OddValue, Example: "-d train.vw --examples 0"},
	{Options: "quantile_tau", Value: "0", Class: Refused, Text: OddValue, Example: "-d train.vw --loss_function quantile --quantile_tau 0"},
	{Options: "holdout_period", Value: "0", Class: Refused, Text: "vw crashes", Example: "-d train.vw --passes 2 --cache_file c -k --holdout_period 0"},
	{Options: "stage_size", Value: "0|-.*", Class: Refused, Text: OddValue, Example: "-d train.vw --svrg --stage_size 0"},
	{Options: "fepsilon radius", Value: "0|-.*", Class: Refused, Text: OddValue, Example: "-d train.vw --freegrad --project --fepsilon 0 --radius 0"},
	{Options: "flipschitz_const", Value: "-.*", Class: Refused, Text: OddValue, Example: "-d train.vw --freegrad --flipschitz_const -1"},
	{Options: "early_terminate", Value: "0", Class: Refused, Text: OddValue, Example: "-d train.vw --passes 3 --cache_file c -k --early_terminate 0"},
	{Options: "learning_rate initial_t sparse_l2", Value: `-.*`, Class: Refused, Text: OddValue, Example: "-d train.vw -l -0.5"},
	{Options: "lda_D lda_epsilon minibatch", Value: `0|-.*`, Class: Refused, Text: OddValue, Example: "-d train.vw --lda_D 0 --lda_epsilon -1 --minibatch 0"},
	{Options: "decay_learning_rate", Value: `0|-.*`, Class: Refused, Text: OddValue, Example: "-d train.vw --passes 2 --cache_file c -k --decay_learning_rate 0"},
	{Options: "initial_pass_length", Value: "0", Class: Refused, Text: OddValue, Example: "-d train.vw --initial_pass_length 0"},
}
