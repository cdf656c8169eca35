// SPDX-License-Identifier: Apache-2.0

package joinflags

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/allreduce/address"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/internal/flags"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// HasAny reports whether any of the named options was given.
func HasAny(s *cli.Settings, names []string) bool {
	for _, n := range names {
		if s.Has(n) {
			return true
		}
	}
	return false
}

// Check checks the options of a job. Either all that a rank needs are given, or no option of a
// job is. A spare needs no --node. Options that would be ignored are errors.
func Check(s *cli.Settings) []error {
	var given string
	var missing []string
	for _, n := range slices.Concat(flags.ClusterNeeded, flags.ClusterExtra) {
		if s.Has(n) && given == "" {
			given = n
		}
	}
	if given == "" || serverless(s) {
		return nil
	}
	for _, n := range flags.ClusterNeeded {
		if !s.Has(n) && !(n == "node" && s.Has("spare")) {
			missing = append(missing, "--"+n)
		}
	}
	if len(missing) > 0 {
		return []error{cli.Usagef("--%s was given, so this is a rank of a job; missing: %s (one machine needs none of them: gvw run -n 4 -- OPTIONS)",
			given, strings.Join(missing, ", "))}
	}
	if node, total := s.Number("node"), s.Number("total"); node >= total {
		return []error{cli.Usagef("--node %d: the ranks of --total %d are 0 to %d", node, total, total-1)}
	}
	return slices.Concat(checkLoss(s), checkSpare(s), checkElastic(s), checkCheckpoint(s), checkRunDir(s), CheckAddresses(s), checkTransport(s), CheckCredentials(s))
}

// serverless reports whether the options are those of a job of one process without a server, as
// in scripts for vw: --unique_id, --total 1 and --node 0, or only --span_server_port.
func serverless(s *cli.Settings) bool {
	if s.Has("span_server") || s.Has("spare") || HasAny(s, slices.DeleteFunc(slices.Clone(flags.ClusterExtra), isServerPort)) {
		return false
	}
	if s.Has("unique_id") && s.Has("total") && s.Has("node") {
		return s.Number("total") == 1 && s.Number("node") == 0
	}
	return !HasAny(s, flags.ClusterNeeded)
}

func isServerPort(name string) bool { return name == "span_server_port" }

// LeaveServer removes the options of a job that needs no server, so that the process trains
// without one: see serverless.
func LeaveServer(s *cli.Settings) {
	if serverless(s) {
		for _, name := range append(slices.Clone(flags.ClusterNeeded), "span_server_port") {
			s.Set(name)
		}
	}
}

// checkSpare checks that the job uses spares, and that a spare can read what the lost rank has
// read. Its stdin is not that of the lost rank.
func checkSpare(s *cli.Settings) (errs []error) {
	if !s.Has("spare") {
		return nil
	}
	if s.Get("on_loss") != "wait" {
		errs = append(errs, cli.Usagef("--spare would be ignored without --on_loss wait: the job replaces no rank"))
	}
	if data := s.All("data"); len(data) == 0 || slices.Contains(files.StdinNames, data[0]) {
		errs = append(errs, cli.Usagef("--spare without -d FILE: it reads what the lost rank has read, so that must be files (part.{rank}, or one for all and --shard)"))
	}
	for _, name := range []string{"initial_regressor", "input_feature_regularizer"} {
		if strings.Contains(s.Get(name), files.RankMark) {
			errs = append(errs, cli.Usagef("--%s %s with spares: they load it before they know their rank: give one file for all", name, s.Get(name)))
		}
	}
	return errs
}

// elasticOptions has the options that set the fields of [protocol.ElasticError], with the values
// that an elastic job accepts.
var elasticOptions = map[string]string{
	"OnLoss":     "--on_loss wait or shrink",
	"Job.RunKey": "--run_id NAME",
}

// checkElastic checks that the server can distinguish late attempts from new jobs. The rule is
// that of the server and the library, with options instead of fields.
func checkElastic(s *cli.Settings) (errs []error) {
	if !s.Has("elastic") {
		return nil
	}
	for _, e := range protocol.CheckElastic(flags.OnLoss(s.Get("on_loss")), s.Get("run_id")) {
		errs = append(errs, cli.Usagef("--elastic without %s: %s", elasticOptions[e.Field], e.Reason))
	}
	return errs
}

// checkLoss checks that options about the loss of a rank are not ignored.
func checkLoss(s *cli.Settings) (errs []error) {
	if s.Has("slow_factor") {
		if x, err := strconv.ParseFloat(s.Get("slow_factor"), 64); err == nil && x != 0 && x <= 1 {
			errs = append(errs, cli.Usagef("--slow_factor %s: above 1, how many times slower than the others; or 0, and no rank is taken for slow", s.Get("slow_factor")))
		}
	}
	if s.Get("on_loss") == "grow" && !s.Has("malt") {
		errs = append(errs, cli.Usagef("--on_loss grow without --malt GRAPH: only shared vectors take a rank that joins late: use wait or shrink"))
	}
	if s.Has("on_loss") && s.Get("on_loss") != "abort" {
		return errs
	}
	for _, name := range []string{"replace_timeout", "slow_factor"} {
		if s.Has(name) {
			errs = append(errs, cli.Usagef("--%s would be ignored without --on_loss wait or shrink: the loss of a rank ends the job", name))
		}
	}
	return errs
}

// checkCheckpoint checks that checkpoints are written, and that their run has a name.
func checkCheckpoint(s *cli.Settings) (errs []error) {
	if !s.Has("checkpoint") {
		return nil
	}
	if s.Get("on_loss") != "wait" {
		errs = append(errs, cli.Usagef("--checkpoint would be ignored without --on_loss wait: the job does not replace lost ranks"))
	}
	if s.Number("total") == 1 {
		errs = append(errs, cli.Usagef("--checkpoint would be ignored with one rank: a job of one rank writes no checkpoints"))
	}
	if !s.Has("run_id") {
		errs = append(errs, cli.Usagef("--checkpoint without --run_id NAME: the run ID distinguishes its checkpoints from those of other runs"))
	}
	return errs
}

// checkRunDir checks that the run has a name, by which its directory is found again.
func checkRunDir(s *cli.Settings) (errs []error) {
	if s.Has("run_dir") && !s.Has("run_id") {
		errs = append(errs, cli.Usagef("--run_dir without --run_id NAME: the run ID distinguishes its files from those of other runs"))
	}
	return errs
}

// CheckAddresses checks the syntax of hosts and ports. Whether they exist is checked when they
// are used.
func CheckAddresses(s *cli.Settings) (errs []error) {
	for _, name := range []string{"bind", "advertise"} {
		if !s.Has(name) {
			continue
		}
		a, err := address.ParseHost(s.Get(name))
		switch {
		case err != nil && name == "bind":
			errs = append(errs, cli.Usagef("--bind: %w; ports are given by --port_range", err))
		case err != nil:
			errs = append(errs, cli.Usagef("--advertise: %w; the port is the one on which the rank listens", err))
		case a.Host == "" && !a.Network.IsValid():
			errs = append(errs, cli.Usagef("--%s is empty: give an address, a name or a network, or leave it out", name))
		}
	}
	if s.Has("port_range") {
		if low, _, err := address.ParsePorts(s.Get("port_range")); err != nil {
			errs = append(errs, cli.Usagef("--port_range: %w", err))
		} else if low == 0 {
			errs = append(errs, cli.Usagef("--port_range 0: leave it out to take any free port"))
		}
	}
	return errs
}

// RestartedOnLoss is the default of --on_loss if a launcher restarts lost ranks: the job waits
// for the next attempt. Without such a launcher the default is abort.
const RestartedOnLoss = "wait"
