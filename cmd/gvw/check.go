// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/allreduce/address"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/compat"
)

// An option of gvw's own that would be ignored is an error: a user who gives it expects
// an effect. ownCases says which of them need others, and which exclude each other;
// compat.Cases has the rules about vw's options. checkLearn applies both.

const (
	ofBFGS   = "it is L-BFGS's"
	onlyText = "it is for vw's text only"
	oneForm  = "data has one format"
)

var ownCases = []compat.Case{
	own("bfgs_semantics", "", "bfgs conjugate_gradient hybrid", ofBFGS),
	own("sgd_l2", "", "hybrid", "it is for the SGD of the hybrid; without a hybrid, SGD takes --l2"),
	own("shuffle", "", "passes hybrid", "the first pass is read as it stands"),
	own("shuffle_memory", "", "shuffle", "nothing is shuffled"),
	own("metrics_file", "", "metrics", "nothing is measured"),
	own("checkpoint_every", "", "checkpoint", "no state is kept"),
	own("resume", "", "checkpoint", "that names the states"),
	own("generation", "", "run_id", "it counts the restarts of a run, by its name"),

	own("label", "", "csv", "the data is not CSV, and in other formats the label begins the line"),
	own("libsvm", "json|csv", "", oneForm),
	own("redefine affix spelling", "libsvm", "", onlyText),
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
	own("checkpoint", "elastic", "", "a job that begins from one has all ranks"),
}

// own is a case of gvw's own options.
func own(options, with, without, why string) compat.Case {
	return compat.Case{Options: options, With: with, Without: without, Class: compat.Refused, Text: why}
}

// refusal is the error of a case. launcher is the command that has set --span_server, for
// which the message has it; empty: the user has.
func refusal(f compat.Finding, launcher string) error {
	text := strings.Replace(f.Shown, " with --", " cannot go with --", 1)
	text = strings.Replace(text, " without --", " would be ignored without --", 1)
	if launcher != "" {
		text = strings.Replace(text, "--span_server", launcher, 1)
	}
	return cli.Usagef("%s: %s", text, f.Text)
}

// clusterNeeded are the options that make a process a rank, all or none;
// clusterExtra belong to them.
var (
	clusterNeeded = []string{"span_server", "unique_id", "total", "node"}
	clusterExtra  = []string{"spare", "span_server_port", "shard", "run_id", "generation", "run_dir", "on_loss", "replace_timeout", "slow_factor", "heartbeat", "lost_after", "server_timeout", "stall_timeout", "file_timeout", "start_timeout", "elastic", "checkpoint", "bind", "advertise", "port_range", "schedule", "checksum", "shm", "transport", "verbs_device", "trace_dir", "secret_file", "encrypt", "tls_cert", "tls_key", "tls_ca", "allow_vw", "allow", "job_token"}
)

// checkLearn finds what is missing, what contradicts and what would be ignored,
// all of it at once.
func checkLearn(s *settings) error {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, cli.Usagef(format, args...)) }

	loads := s.has("initial_regressor")
	for _, f := range append(compat.Judge(ownCases, s.all, loads), compat.Judge(compat.Cases(), s.all, loads)...) {
		if f.Class == compat.Refused {
			errs = append(errs, refusal(f, s.launcher))
		}
	}
	if s.has("args") {
		fault("--args %s: it is the only option, as in vw: gvw --args FILE, with the other options in the lines of FILE", s.get("args"))
	}
	errs = append(errs, checkCluster(s)...)
	errs = append(errs, checkFiles(s)...)
	if s.has("mode") && fileMode(s.get("mode")) == 0 {
		fault("--mode %s: octal, from 600 to 777, as of chmod; the owner reads and writes", s.get("mode"))
	}
	for _, o := range learnFlags {
		if o.read != nil && o.kind != boolean && s.has(o.name) {
			if _, err := o.read(s.all(o.name)); err != nil {
				fault("--%s: %w", o.name, err)
			}
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
	if given == "" || serverless(s) {
		return nil
	}
	for _, n := range clusterNeeded {
		if !s.has(n) && !(n == "node" && s.has("spare")) {
			missing = append(missing, "--"+n)
		}
	}
	if len(missing) > 0 {
		return []error{cli.Usagef("--%s was given, so this is a rank of a job; missing: %s (one machine needs none of them: gvw run -n 4 -- OPTIONS)",
			given, strings.Join(missing, ", "))}
	}
	if node, total := s.number("node"), s.number("total"); node >= total {
		return []error{cli.Usagef("--node %d: the ranks of --total %d are 0 to %d", node, total, total-1)}
	}
	return slices.Concat(checkLoss(s), checkSpare(s), checkElastic(s), checkCheckpoint(s), checkRunDir(s), checkAddresses(s), checkTransport(s), checkCredentials(s))
}

// serverless reports whether the options of a job name no server and no more than one
// process: vw's scripts may have them so.
func serverless(s *settings) bool {
	if s.has("span_server") || s.has("spare") || hasAny(s, slices.DeleteFunc(slices.Clone(clusterExtra), isServerPort)) {
		return false
	}
	if s.has("unique_id") && s.has("total") && s.has("node") {
		return s.number("total") == 1 && s.number("node") == 0
	}
	return !hasAny(s, clusterNeeded)
}

func isServerPort(name string) bool { return name == "span_server_port" }

// leaveServer removes the options of a job that has no server: see serverless.
func leaveServer(s *settings) {
	if serverless(s) {
		for _, name := range append(slices.Clone(clusterNeeded), "span_server_port") {
			s.set(name)
		}
	}
}

// checkSpare holds that a spare is of use, and can read what a lost rank has read.
func checkSpare(s *settings) (errs []error) {
	if !s.has("spare") {
		return nil
	}
	if s.get("on_loss") != "wait" {
		errs = append(errs, cli.Usagef("--spare would be ignored without --on_loss wait: the job replaces no rank"))
	}
	if data := s.all("data"); len(data) == 0 || slices.Contains(stdinNames, data[0]) {
		errs = append(errs, cli.Usagef("--spare without -d FILE: it reads what the lost rank has read, so that must be files (part.{rank}, or one for all and --shard)"))
	}
	for _, name := range []string{"initial_regressor", "input_feature_regularizer"} {
		if strings.Contains(s.get(name), rankMark) {
			errs = append(errs, cli.Usagef("--%s %s with spares: they load it before they know their rank: give one file for all", name, s.get(name)))
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
		errs = append(errs, cli.Usagef("--elastic without --on_loss wait or shrink: attempts of ranks that were missing come later, and must stand by"))
	}
	if !s.has("run_id") {
		errs = append(errs, cli.Usagef("--elastic without --run_id NAME: a rank that comes after the end would begin the job anew, alone"))
	}
	return errs
}

// checkLoss holds that what is said about a loss is of use.
func checkLoss(s *settings) (errs []error) {
	if s.has("slow_factor") {
		if x, err := strconv.ParseFloat(s.get("slow_factor"), 64); err == nil && x != 0 && x <= 1 {
			errs = append(errs, cli.Usagef("--slow_factor %s: above 1, how many times slower than the others; or 0, and no rank is taken for slow", s.get("slow_factor")))
		}
	}
	if s.has("on_loss") && s.get("on_loss") != "abort" {
		return errs
	}
	for _, name := range []string{"replace_timeout", "slow_factor"} {
		if s.has(name) {
			errs = append(errs, cli.Usagef("--%s would be ignored without --on_loss wait or shrink: the loss of a rank ends the job", name))
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
		errs = append(errs, cli.Usagef("--checkpoint would be ignored without --on_loss wait: the job never takes up a lost rank's work"))
	}
	if s.number("total") == 1 {
		errs = append(errs, cli.Usagef("--checkpoint would be ignored with one rank: nothing is kept of its work"))
	}
	if !s.has("run_id") {
		errs = append(errs, cli.Usagef("--checkpoint without --run_id NAME: by the run's name its checkpoints are told from those of others"))
	}
	return errs
}

// checkRunDir holds that the run's place can be found again.
func checkRunDir(s *settings) (errs []error) {
	if s.has("run_dir") && !s.has("run_id") {
		errs = append(errs, cli.Usagef("--run_dir without --run_id NAME: by the run's name its files are told from those of others"))
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
			errs = append(errs, cli.Usagef("--bind: %w; ports are given by --port_range", err))
		case err != nil:
			errs = append(errs, cli.Usagef("--advertise: %w; the port is the one on which the rank listens", err))
		case a.Host == "" && !a.Network.IsValid():
			errs = append(errs, cli.Usagef("--%s is empty: give an address, a name or a network, or leave it out", name))
		}
	}
	if s.has("port_range") {
		if low, _, err := address.ParsePorts(s.get("port_range")); err != nil {
			errs = append(errs, cli.Usagef("--port_range: %w", err))
		} else if low == 0 {
			errs = append(errs, cli.Usagef("--port_range 0: any free port is what is taken without it: leave it out"))
		}
	}
	return errs
}

// firstWordIsData makes the first word that no option took the data, as vw does, and returns
// the files that are not read: the other words, and those of -d.
func firstWordIsData(s *settings) (unread []string) {
	words := slices.Concat(s.words, s.rest)
	s.words, s.rest = nil, nil
	if len(words) == 0 {
		return nil
	}
	unread = append(slices.Clone(s.all("data")), words[1:]...)
	s.set("data", words[0])
	return unread
}

// restartedOnLoss is what ranks do about a loss, if nobody says, where the one that is
// lost is started again.
const restartedOnLoss = "wait"
