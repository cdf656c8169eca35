// SPDX-License-Identifier: Apache-2.0

package train

import (
	"errors"
	"slices"
	"strings"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/compat"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/internal/flags"
	"github.com/gvw-project/gvw/internal/joinflags"
)

// An option of gvw that would be ignored is an error, since a user who gives it expects an
// effect. ownCases has the options that need others and those that exclude each other;
// compat.Cases has the rules for options of vw, many of which must be accepted without an
// effect. Check applies both.

const (
	ofBFGS   = "it is L-BFGS's"
	onlyText = "it is for vw's text only"
	oneForm  = "data has one format"
)

var ownCases = []compat.Case{
	own("bfgs_semantics", "", "bfgs conjugate_gradient hybrid", ofBFGS),
	own("solver", "", "bfgs hybrid", "it is for training over whole passes: add --bfgs, or --hybrid P:Q"),
	own("hessian_sample", "", "solver=newton solver=giant solver=auto", "L-BFGS uses no Hessian between its passes"),
	own("mem", "solver=newton|solver=giant", "", "it is the number of L-BFGS's pairs"),
	own("sgd_l2", "", "hybrid", "it is for the SGD of the hybrid; without a hybrid, SGD takes --l2"),
	own("shuffle", "", "passes hybrid", "the first pass is read as it stands"),
	own("example_memory", "", "cache cache_file csr", "without a cache each pass reads the text"),
	own("shuffle_memory", "", "shuffle", "nothing is shuffled"),
	own("metrics_file", "", "metrics", "nothing is measured"),
	own("checkpoint_every", "", "checkpoint", "no state is kept"),
	own("resume", "", "checkpoint", "that names the states"),
	own("checkpoint_interval", "", "daemon port pid_file", "only a daemon has it"),
	own("generation", "", "run_id", "it counts the restarts of a run, by its name"),

	own("label", "", "csv parquet", "the data has no columns, and in other formats the label begins the line"),
	own("parquet", "json|csv", "", oneForm),
	own("csv_separator csv_header csv_no_file_header", "parquet", "", "a Parquet file names its columns"),
	own("parquet", "daemon|port", "", "clients send lines"),
	own("libsvm", "json|csv|parquet", "", oneForm),
	own("csr", "json|csv|parquet|libsvm", "", oneForm),
	own("csr", "shard", "", "frames are no lines: give each rank an input of its own"),
	own("redefine affix spelling", "parquet|libsvm|csr", "", onlyText),
	own("bfgs", "hybrid", "", "the hybrid runs L-BFGS by itself"),
	own("passes", "hybrid", "", "the hybrid's own P:Q is the number of passes"),
	own("testonly", "hybrid", "", "nothing is learned"),
	own("input_feature_regularizer", "hybrid", "", "L-BFGS would have to start at the weights that it holds, not at those of SGD"),
	own("hybrid", "conjugate_gradient", "", "--mem 0 makes conjugate gradients of --hybrid"),
	own("output_feature_regularizer_binary output_feature_regularizer_text", "valid", "", "the Hessian is that of all examples"),
	own("valid", "testonly", "", "nothing is learned: give the file by -d"),
	own("shuffle", "bfgs|conjugate_gradient", "", "L-BFGS sums over all examples, in any order"),
	own("shuffle", "testonly", "", "nothing is learned"),
	own("predictions raw_predictions audit", "shuffle", "", "they would not be in the order of the data"),
	own("holdout_period holdout_after", "valid", "", "it takes the place of the holdout set"),
	own("testonly", "checkpoint", "", "nothing is learned"),
	own("node dry_run", "spare", "", "it has the rank of the one that is lost, and none before"),
	own("timeline otlp", "spare|elastic", "", "the rank joins before its files are open"),
	own("checkpoint", "elastic", "", "a job that begins from one has all ranks"),

	own("batch", "", "aggregate", "ranks average as vw does, at the end of each pass"),
	own("average_every", "", "aggregate threads", "ranks average as vw does, at the end of each pass"),
	own("outer_rate outer_momentum", "", "aggregate malt", "they step along averages of models"),
	own("average_every outer_rate outer_momentum", "aggregate=gradient", "", "gradients make one step each time, and no models are averaged"),
	{Options: "average_every", Value: "random:.*", With: "outer_rate|outer_momentum|l1|invariant", Class: compat.Refused, Text: "control variates need plain steps, plain means and a smooth loss"},
	own("aggregate", "bfgs|conjugate_gradient", "", "L-BFGS adds up sums of its own"),
	own("aggregate", "testonly", "", "nothing is learned"),
	own("aggregate", "oaa", "", "it is for one model of simple labels"),
	own("aggregate", "ftrl|pistol|coin|freegrad|malt", "", "that is another way to learn"),
	own("aggregate", "audit|invert_hash", "", "the names of features are not kept: train first, then show the model"),
	own("adaptive normalized adax", "aggregate=gradient", "", "its steps are plain"),
	own("batch", "adaptive|normalized|adax", "", "their steps are those of single examples"),
	own("initial_pass_length", "aggregate", "", "--average_every divides passes"),
	own("sparse_l2 decay_learning_rate l1_state l2_state feature_mask preserve_performance_counters", "aggregate", "adaptive normalized adax", "each weight has one float, and rates follow --power_t"),
	own("invariant", "aggregate=gradient", "", "its steps are plain"),

	own("learn_alpha", "", "lda initial_regressor", "only documents have topics"),
	own("learn_alpha", "testonly", "", "nothing is learned"),

	own("sync cb_size malt_send max_delay malt_compress verbs_memory", "", "malt", "ranks exchange nothing during a pass"),
	own("malt", "", "span_server", "one process has no other rank to exchange weights with (gvw run -n 4 starts a job on this machine)"),
	own("malt", "bfgs|conjugate_gradient|hybrid", "", "L-BFGS needs the exact sums of all ranks"),
	own("malt", "testonly", "", "nothing is learned"),
	own("verbs_memory", "", "transport=verbs transport=auto", "no memory is registered for RDMA"),
	own("malt", "ftrl|pistol|coin|freegrad", "", "that learner is for one process"),
	own("early_terminate", "malt", "", "ranks end their passes at different times, so all passes are made"),
	own("checkpoint", "malt", "", "all passes are one step, so there is nothing to continue from"),
	{Options: "malt", Value: "[^af].*", With: "malt_send=gradients|malt_send=deltas", Class: compat.Refused, Text: "they reach only the neighbours of a rank: send models or deltas:M, or use --malt all"},
}

// own returns a case that refuses each of the options beside those in with, or without those in
// without; compat.Case has the syntax. why completes the message.
func own(options, with, without, why string) compat.Case {
	return compat.Case{Options: options, With: with, Without: without, Class: compat.Refused, Text: why}
}

// refusal returns the error of a case. launcher is the command that has set --span_server,
// which the message then names instead; empty: the user has set it.
func refusal(f compat.Finding, launcher string) error {
	text := strings.Replace(f.Shown, " with --", " cannot go with --", 1)
	text = strings.Replace(text, " without --", " would be ignored without --", 1)
	if launcher != "" {
		text = strings.Replace(text, "--span_server", launcher, 1)
	}
	return cli.Usagef("%s: %s", text, f.Text)
}

// Check reports options that are missing, contradict each other, or would be ignored. It
// returns all faults at once.
func Check(s *cli.Settings) error {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, cli.Usagef(format, args...)) }

	loads := s.Has("initial_regressor")
	for _, f := range append(compat.Judge(ownCases, s.All, loads), compat.Judge(compat.Cases(), s.All, loads)...) {
		if f.Class == compat.Refused {
			errs = append(errs, refusal(f, s.Launcher))
		}
	}
	if s.Has("args") {
		fault("--args %s: it is the only option, as in vw: gvw --args FILE, with the other options in the lines of FILE", s.Get("args"))
	}
	errs = append(errs, joinflags.Check(s)...)
	errs = append(errs, files.Check(s)...)
	if s.Has("mode") && files.FileMode(s.Get("mode")) == 0 {
		fault("--mode %s: octal, from 600 to 777, as of chmod; the owner reads and writes", s.Get("mode"))
	}
	for _, o := range flags.Learn {
		if o.Read != nil && o.Kind != cli.Boolean && s.Has(o.Name) {
			if _, err := o.Read(s.All(o.Name)); err != nil {
				fault("--%s: %w", o.Name, err)
			}
		}
	}
	return errors.Join(errs...)
}

// FirstWordIsData makes the first word that no option took the data, as vw does, and returns
// the files that are not read: the other words, and those of -d.
func FirstWordIsData(s *cli.Settings) (unread []string) {
	words := slices.Concat(s.Words, s.Rest)
	s.Words, s.Rest = nil, nil
	if len(words) == 0 {
		return nil
	}
	unread = append(slices.Clone(s.All("data")), words[1:]...)
	s.Set("data", words[0])
	return unread
}
