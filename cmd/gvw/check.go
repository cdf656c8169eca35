// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/allreduce/address"
	"github.com/gvw-project/gvw/learn/metric"
)

// An option that would be ignored is an error: a user who gives it expects it to
// do something. These tables say which options need which, and which exclude
// each other; checkLearn applies them.

// needs says that an option does nothing without one of others.
type needs struct {
	option string
	one    []string
	why    string
}

// brought are the options that a loaded model may bring along.
var brought = map[string]bool{"bfgs": true, "ngram": true, "quadratic": true}

var learnNeeds = []needs{
	{"csv_separator", []string{"csv"}, "the data is not CSV"},
	{"csv_no_file_header", []string{"csv"}, "the data is not CSV"},
	{"csv_header", []string{"csv"}, "the data is not CSV"},
	{"csv_ns_value", []string{"csv"}, "the data is not CSV"},
	{"skips", []string{"ngram"}, "n-grams skip features"},
	{"permutations", []string{"quadratic", "cubic", "interactions"}, "there are no interactions"},
	{"leave_duplicate_interactions", []string{"quadratic", "cubic", "interactions"}, "there are no interactions"},
	{"kill_cache", []string{"cache", "cache_file"}, "there is no cache to make anew"},
	{"mem", []string{"bfgs", "hybrid"}, "it is L-BFGS's"},
	{"termination", []string{"bfgs", "conjugate_gradient", "hybrid"}, "it is L-BFGS's"},
	{"hessian_on", []string{"bfgs", "hybrid"}, "it is L-BFGS's"},
	{"no_bias_regularization", []string{"bfgs", "conjugate_gradient", "hybrid"}, "it is L-BFGS's"},
	{"input_feature_regularizer", []string{"bfgs", "conjugate_gradient"}, "it is L-BFGS's"},
	{"output_feature_regularizer_binary", []string{"bfgs", "conjugate_gradient", "hybrid"}, "it is L-BFGS's"},
	{"output_feature_regularizer_text", []string{"bfgs", "conjugate_gradient", "hybrid"}, "it is L-BFGS's"},
	{"bfgs_semantics", []string{"bfgs", "conjugate_gradient", "hybrid"}, "it is L-BFGS's"},
	{"save_per_pass", []string{"final_regressor"}, "no model is written"},
	{"preserve_performance_counters", []string{"initial_regressor"}, "there are no counters to go on from"},
	{"random_seed", []string{"random_weights", "oaa_subsample", "shuffle"}, "nothing is drawn by it (vw's normal weights have no seed)"},
	{"sgd_l2", []string{"hybrid"}, "it is for the SGD of the hybrid; alone, SGD takes --l2"},
	{"predict_only_model", []string{"final_regressor", "readable_model", "invert_hash", "span_server"}, "no model is written"},
	{"early_terminate", []string{"passes", "hybrid", "holdout_after"}, "it counts passes"},
	{"shuffle", []string{"passes", "hybrid"}, "the first pass is read as it stands"},
	{"shuffle_memory", []string{"shuffle"}, "nothing is shuffled"},
	{"id", []string{"final_regressor", "readable_model", "invert_hash", "span_server"}, "no model is written"},
	{"metrics_file", []string{"metrics"}, "nothing is measured"},
	{"holdout_period", []string{"passes", "hybrid"}, "in one pass nothing is held out"},
	{"checkpoint_every", []string{"checkpoint"}, "no state is kept"},
	{"resume", []string{"checkpoint"}, "that says where the states are"},
	{"generation", []string{"run_id"}, "it counts the restarts of a run, by its name"},
}

const onlyText = "as in vw, it is for vw's text alone"

// excludes says that an option does nothing, or means two things, beside one of
// others.
type excludes struct {
	option string
	others []string
	why    string
}

var (
	sgdOnly    = []string{"l1", "l1_state", "l2_state", "sparse_l2", "adax", "feature_mask", "sgd", "adaptive", "normalized", "invariant", "learning_rate", "power_t", "initial_t", "decay_learning_rate"}
	holdoutSet = []string{"holdout_period", "holdout_after", "early_terminate", "valid"}
)

// notFTRL are options of SGD's rules.
var notFTRL = []string{"learning_rate", "power_t", "initial_t", "decay_learning_rate", "sgd", "adaptive", "normalized", "invariant"}

var learnExcludes = []excludes{
	{"audit", []string{"span_server", "cache", "cache_file"}, "it needs names, which only one process that reads the text has"},
	{"invert_hash", []string{"span_server", "cache", "cache_file"}, "it needs names, which only one process that reads the text has: train first, then write it with -t -i MODEL"},
	{"json", []string{"csv", "libsvm"}, "data has one format"},
	{"csv", []string{"libsvm"}, "data has one format"},
	{"json", []string{"redefine", "affix", "spelling"}, onlyText},
	{"csv", []string{"redefine", "affix", "spelling"}, onlyText},
	{"libsvm", []string{"redefine", "affix", "spelling"}, onlyText},
	{"noconstant", []string{"constant"}, "there is no constant feature"},
	{"hybrid", []string{"bfgs"}, "the hybrid runs L-BFGS by itself"},
	{"hybrid", []string{"passes"}, "the hybrid's own P:Q says how many passes"},
	{"hybrid", []string{"testonly"}, "nothing is learned"},
	{"bfgs", sgdOnly, "L-BFGS has no such setting"},
	{"conjugate_gradient", sgdOnly, "conjugate gradients have no such setting"},
	{"conjugate_gradient", []string{"bfgs", "hybrid"}, "--mem 0 makes conjugate gradients of those"},
	{"testonly", []string{"output_feature_regularizer_binary", "output_feature_regularizer_text", "input_feature_regularizer"}, "nothing is learned"},
	{"output_feature_regularizer_binary", holdoutSet, "the Hessian is that of all examples"},
	{"output_feature_regularizer_text", holdoutSet, "the Hessian is that of all examples"},
	{"initial_weight", []string{"random_weights", "normal_weights", "truncated_normal_weights"}, "there is one start"},
	{"random_weights", []string{"normal_weights", "truncated_normal_weights"}, "there is one start"},
	{"normal_weights", []string{"truncated_normal_weights"}, "there is one start"},
	{"ftrl", []string{"pistol", "coin"}, "they are three learners"},
	{"pistol", []string{"coin"}, "they are three learners"},
	{"ftrl", notFTRL, "it has no such setting"},
	{"pistol", notFTRL, "it has no such setting"},
	{"coin", notFTRL, "it has no such setting"},
	{"initial_pass_length", []string{"bfgs", "conjugate_gradient", "hybrid", "span_server", "shuffle", "oaa", "ftrl", "pistol", "coin"}, "it is for plain SGD in one process"},
	{"span_server", []string{"examples"}, "every rank would have first ones of its own; cut the data"},
	{"holdout_off", []string{"holdout_period", "holdout_after", "early_terminate"}, "nothing is held out"},
	{"holdout_after", []string{"holdout_period"}, "one of them says what is held out"},
	{"testonly", []string{"valid"}, "nothing is learned: give the file by -d"},
	{"shuffle", []string{"bfgs", "conjugate_gradient"}, "L-BFGS sums over all examples, in any order"},
	{"shuffle", []string{"testonly"}, "nothing is learned"},
	{"shuffle", []string{"predictions", "raw_predictions", "audit"}, "they would not be in the order of the data"},
	{"valid", []string{"holdout_period", "holdout_after"}, "it takes the place of the holdout set"},
	{"testonly", []string{"adax", "sparse_l2", "feature_mask", "holdout_period", "holdout_after", "early_terminate", "decay_learning_rate"}, "nothing is learned"},
	{"checkpoint", []string{"testonly"}, "nothing is learned"},
	{"spare", []string{"node", "dry_run"}, "it has the rank of the one that is lost, and none before"},
	{"elastic", []string{"checkpoint"}, "who begins from one has all ranks"},
	{"quiet", []string{"progress"}, "there is no table"},
}

// clusterNeeded are the options that make a process a rank, all or none;
// clusterExtra belong to them.
var (
	clusterNeeded = []string{"span_server", "unique_id", "total", "node"}
	clusterExtra  = []string{"spare", "span_server_port", "shard", "run_id", "generation", "run_dir", "on_loss", "replace_timeout", "slow_factor", "heartbeat", "lost_after", "server_timeout", "stall_timeout", "start_timeout", "elastic", "checkpoint", "bind", "advertise", "port_range", "schedule", "checksum", "shm", "transport", "verbs_device", "trace_dir", "secret_file", "encrypt", "tls_cert", "tls_key", "tls_ca", "allow_vw", "allow", "job_token"}
)

// checkLearn finds what is missing, what contradicts and what would be ignored,
// all of it at once.
func checkLearn(s *settings) error {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, usageErrorf(format, args...)) }

	for _, r := range learnNeeds {
		if !s.has(r.option) || hasAny(s, r.one) {
			continue
		}
		if brought[r.one[0]] && s.has("initial_regressor") {
			continue
		}
		fault("--%s would be ignored without --%s: %s", r.option, strings.Join(r.one, " or --"), r.why)
	}
	for _, r := range learnExcludes {
		if !s.has(r.option) {
			continue
		}
		for _, other := range r.others {
			if s.has(other) {
				fault("--%s cannot go with --%s: %s", other, r.option, r.why)
			}
		}
	}
	if s.skipped("no_stdin") && !s.has("data") && !s.has("cache_file") {
		fault("--no_stdin without -d or --cache_file: there is nothing to read")
	}
	errs = append(errs, checkCluster(s)...)
	errs = append(errs, checkFiles(s)...)
	if _, err := classWeights(s.all("classweight")); err != nil {
		fault("--classweight: %w", err)
	}
	if s.has("mode") && fileMode(s.get("mode")) == 0 {
		fault("--mode %s: octal, from 600 to 777, as of chmod; the owner reads and writes", s.get("mode"))
	}
	if _, err := metric.Parse(s.get("metrics")); s.has("metrics") && err != nil {
		fault("--metrics: %w", err)
	}
	if s.has("hybrid") {
		if _, err := parseHybrid(s.get("hybrid")); err != nil {
			fault("--hybrid: %w", err)
		}
	}
	return errors.Join(errs...)
}

func hasAny(s *settings, names []string) bool {
	for _, n := range names {
		if s.has(n) {
			return true
		}
	}
	return false
}

// checkCluster holds that a process is a rank of a job or is not.
func checkCluster(s *settings) []error {
	var given string
	var missing []string
	for _, n := range slices.Concat(clusterNeeded, clusterExtra) {
		if s.has(n) && given == "" {
			given = n
		}
	}
	if given == "" {
		return nil
	}
	for _, n := range clusterNeeded {
		if !s.has(n) && !(n == "node" && s.has("spare")) {
			missing = append(missing, "--"+n)
		}
	}
	if len(missing) > 0 {
		return []error{usageErrorf("--%s was given, so this is a rank of a job; missing: %s (one machine needs none of them: gvw run -n 4 -- OPTIONS)",
			given, strings.Join(missing, ", "))}
	}
	if node, total := s.number("node"), s.number("total"); node >= total {
		return []error{usageErrorf("--node %d: the ranks of --total %d are 0 to %d", node, total, total-1)}
	}
	return slices.Concat(checkLoss(s), checkSpare(s), checkElastic(s), checkCheckpoint(s), checkRunDir(s), checkAddresses(s), checkTransport(s), checkCredentials(s))
}

// checkSpare holds that a spare is of use, and can read what a lost rank has read.
func checkSpare(s *settings) (errs []error) {
	if !s.has("spare") {
		return nil
	}
	if s.get("on_loss") != "wait" {
		errs = append(errs, usageErrorf("--spare would be ignored without --on_loss wait: the job replaces no rank"))
	}
	if data := s.all("data"); len(data) == 0 || slices.Contains(stdinNames, data[0]) {
		errs = append(errs, usageErrorf("--spare without -d FILE: it reads what the lost rank has read, so that must be files (part.{rank}, or one for all and --shard)"))
	}
	for _, name := range []string{"initial_regressor", "input_feature_regularizer"} {
		if strings.Contains(s.get(name), rankMark) {
			errs = append(errs, usageErrorf("--%s %s with spares: they load it before they know their rank: give one file for all", name, s.get(name)))
		}
	}
	return errs
}

// checkElastic holds that who comes too late can be told from who begins.
func checkElastic(s *settings) (errs []error) {
	if !s.has("elastic") {
		return nil
	}
	if how := s.get("on_loss"); how != "wait" && how != "shrink" {
		errs = append(errs, usageErrorf("--elastic without --on_loss wait or shrink: attempts of ranks that were missing come later, and must stand by"))
	}
	if !s.has("run_id") {
		errs = append(errs, usageErrorf("--elastic without --run_id NAME: a rank that comes after the end would begin the job anew, alone"))
	}
	return errs
}

// checkLoss holds that what is said about a loss is of use.
func checkLoss(s *settings) (errs []error) {
	if s.has("slow_factor") {
		if x, err := strconv.ParseFloat(s.get("slow_factor"), 64); err == nil && x != 0 && x <= 1 {
			errs = append(errs, usageErrorf("--slow_factor %s: above 1, how many times slower than the others; or 0, and no rank is taken for slow", s.get("slow_factor")))
		}
	}
	if s.has("on_loss") && s.get("on_loss") != "abort" {
		return errs
	}
	for _, name := range []string{"replace_timeout", "slow_factor"} {
		if s.has(name) {
			errs = append(errs, usageErrorf("--%s would be ignored without --on_loss wait or shrink: the loss of a rank ends the job", name))
		}
	}
	return errs
}

// checkCheckpoint holds that checkpoints are written, and can be told from those of
// others.
func checkCheckpoint(s *settings) (errs []error) {
	if !s.has("checkpoint") {
		return nil
	}
	if s.get("on_loss") != "wait" {
		errs = append(errs, usageErrorf("--checkpoint would be ignored without --on_loss wait: the job never takes up a lost rank's work"))
	}
	if s.number("total") == 1 {
		errs = append(errs, usageErrorf("--checkpoint would be ignored with one rank: nothing is kept of its work"))
	}
	if !s.has("run_id") {
		errs = append(errs, usageErrorf("--checkpoint without --run_id NAME: by the run's name its checkpoints are told from those of others"))
	}
	return errs
}

// checkRunDir holds that the run's place can be found again.
func checkRunDir(s *settings) (errs []error) {
	if s.has("run_dir") && !s.has("run_id") {
		errs = append(errs, usageErrorf("--run_dir without --run_id NAME: by the run's name its files are told from those of others"))
	}
	return errs
}

// checkAddresses holds that hosts and ports can be read. Whether they are there is
// seen when they are used.
func checkAddresses(s *settings) (errs []error) {
	for _, name := range []string{"bind", "advertise"} {
		if !s.has(name) {
			continue
		}
		a, err := address.ParseHost(s.get(name))
		switch {
		case err != nil && name == "bind":
			errs = append(errs, usageErrorf("--bind: %w; ports are given by --port_range", err))
		case err != nil:
			errs = append(errs, usageErrorf("--advertise: %w; the port is the one on which the rank listens", err))
		case a.Host == "" && !a.Network.IsValid():
			errs = append(errs, usageErrorf("--%s is empty: give an address, a name or a network, or leave it out", name))
		}
	}
	if s.has("port_range") {
		if low, _, err := address.ParsePorts(s.get("port_range")); err != nil {
			errs = append(errs, usageErrorf("--port_range: %w", err))
		} else if low == 0 {
			errs = append(errs, usageErrorf("--port_range 0: any free port is what is taken without it: leave it out"))
		}
	}
	return errs
}

// takeData makes what no option took the data, as vw does: one file, and not
// beside -d, where vw would silently prefer the one to the other.
func takeData(s *settings) error {
	words := slices.Concat(s.words, s.rest)
	s.words, s.rest = nil, nil
	switch {
	case len(words) == 0:
		return nil
	case len(words) > 1:
		return usageErrorf("%q and %q: vw would read the first only; give one -d for each file", words[0], words[1])
	case s.has("data"):
		return usageErrorf("%q: what no option takes is data, but -d %s was given: vw would read %s only; give one -d for each file", words[0], s.get("data"), words[0])
	}
	s.set("data", words[0])
	return nil
}
