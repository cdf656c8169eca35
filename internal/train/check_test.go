// SPDX-License-Identifier: Apache-2.0

package train

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/compat"
	"github.com/gvw-project/gvw/internal/flags"
)

func TestCheckLearn(t *testing.T) {
	const rank = " --span_server h --unique_id 1 --total 2 --node 0"
	for _, c := range []struct{ line, want string }{
		{"-d x", ""},
		{"-d x --passes 3 -c -k", ""},
		{"-d x -k", ""},
		{"-d x --mem 3", ""},
		{"-d x --skips 3", "--skips would be ignored without --ngram: n-grams skip features"},
		{"-d x --skips 3 -i m", ""},
		{"-d x -l -0.5", "--learning_rate -0.5: its result in vw is of no use"},
		{"-d x --sparse_l2 -1", "--sparse_l2 -1: its result"},
		{"-d x --mem 3 -i m", ""},
		{"-d x --bfgs --passes 3 -c --mem 3", ""},
		{"-d x --termination 0.1", ""},
		{"-d x --sgd_l2 1", "--sgd_l2 would be ignored without --hybrid"},
		{"-d x --predict_only_model", ""},
		{"-d x --predict_only_model -f m", ""},
		{"-d x --predict_only_model" + rank, ""},
		{"-d x --holdout_period 5", ""},
		{"-d x --hybrid 2:20 -c", ""},
		{"-d x --hybrid 2:20 --bfgs", "--bfgs cannot go with --hybrid"},
		{"-d x --hybrid 2:20 --passes 3", "--passes cannot go with --hybrid"},
		{"-d x --hybrid 2", `--hybrid: "2" is not P:Q`},
		{"-d x --hybrid 0:5", "is not P:Q"},
		{"-d x --hybrid 1:1", "Q ≥ 2"},
		{"-d x --bfgs --passes 3 -l 0.5", ""},
		{"-d x --bfgs --passes 3 --adaptive", "--adaptive cannot go with --bfgs"},
		{"-d x --loss_function quantile --quantile_tau 0.3", ""},
		{"-d x --loss_function hinge --quantile_tau 0.3", "--quantile_tau would be ignored without --loss_function quantile"},
		{"-d x --min_prediction 2 --max_prediction 1", "--min_prediction: it is above --max_prediction"},
		{"-d x --min_prediction 1 --max_prediction 1", ""},
		{"-d x --holdout_off --early_terminate 2", ""},
		{"-d x --holdout_after 5 --holdout_period 3 --passes 2", ""},
		{"-d x --quiet -P 3", ""},
		{"-d x --examples 3" + rank, "--examples cannot go with --span_server"},
		{"-d x --node 0 --unique_id 4 --total 1", ""},
		{"-d x --node 1 --unique_id 4 --total 2", "missing: --span_server"},
		{"-d x --span_server_port 4", ""},
		{"-d x" + rank, ""},
		{"-d x --total 2", "--total was given, so this is a rank of a job; missing: --span_server, --unique_id, --node"},
		{"-d x --span_server h --node 1", "missing: --unique_id, --total"},
		{"-d x --shard lines", "--shard was given"},
		{"-d x --heartbeat 3", "--heartbeat was given"},
		{"-d x --span_server h --unique_id 1 --total 2 --node 2", "--node 2: the ranks of --total 2 are 0 to 1"},
	} {
		line, want := c.line, c.want
		s, err := cli.Parse(cli.NewTable(&cli.FlagSet{Specs: flags.Learn}, nil).Learner, strings.Fields(line), nil, os.ReadFile)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		err = Check(s)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\ngot  %v\nwant %s", line, err, want)
		}
	}
}

// The tables of cases name only options that exist.
func TestCheckTables(t *testing.T) {
	known := map[string]bool{}
	for _, s := range flags.Learn {
		known[s.Name] = true
	}
	var names []string
	for _, c := range slices.Concat(ownCases, compat.Cases()) {
		names = append(names, c.Names()...)
	}
	for _, n := range append(append(names, flags.ClusterNeeded...), flags.ClusterExtra...) {
		if !known[n] {
			t.Errorf("--%s is no option", n)
		}
	}
}
