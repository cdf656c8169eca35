// SPDX-License-Identifier: Apache-2.0

package flags

import (
	"slices"

	"github.com/gvw-project/gvw/internal/cli"
)

// catServe is the category of the options of gvw serve.
const catServe = "Server"

// Serve are the options of `gvw serve`: its own, and those of the learner by which a model predicts and
// learns.
var Serve = slices.Concat([]*cli.Spec{
	{Name: "initial_regressor", Short: "i", About: "Model.Initial", Kind: cli.Text, Category: catServe, Arg: "MODEL", Repeat: true, Help: "model, whose name is that of its file; repeatable"},
	{Name: "learn", Kind: cli.Boolean, Category: catServe, Help: "learn from each example that has a label, after its prediction"},
	{Name: "port", Kind: cli.Integer, Max: 65535, Category: catServe, Arg: "PORT", Def: "8080", Help: "listen on this port; 0: any free one"},
	{Name: "bind", Kind: cli.Text, Category: catServe, Arg: "HOST", Def: "127.0.0.1", Help: "listen on this address; one that is not on the loopback interface needs --token_file or --tls_ca"},
	{Name: "port_file", Kind: cli.Text, Category: catServe, Arg: "FILE", Help: "write the port to FILE"},
	{Name: "num_children", Kind: cli.Integer, Positive: true, Category: catServe, Arg: "N", Def: "10", Help: "lines that are processed at the same time"},
	{Name: "token_file", Kind: cli.Text, Category: catServe, Arg: "FILE", Help: "token that clients send as Authorization: Bearer TOKEN"},
	{Name: "tls_cert", Kind: cli.Text, Category: catServe, Arg: "FILE", Help: "certificate: the server speaks HTTPS"},
	{Name: "tls_key", Kind: cli.Text, Category: catServe, Arg: "FILE", Help: "its key"},
	{Name: "tls_ca", Kind: cli.Text, Category: catServe, Arg: "FILE", Help: "clients need a certificate of this authority"},
	{Name: "max_line", Kind: cli.Integer, Positive: true, Category: catServe, Arg: "BYTES", Def: "1048576", Help: "longest line"},
	{Name: "max_body", Kind: cli.Integer, Positive: true, Category: catServe, Arg: "MiB", Def: "1024", Help: "largest body of a request"},
}, learnersOf("final_regressor", "predict_only_model", "checkpoint", "checkpoint_every", "checkpoint_interval", "resume",
	"loss_function", "quantile_tau", "expectile_q", "logistic_min", "logistic_max", "link", "binary", "learning_rate", "power_t", "initial_t", "l1", "l2",
	"bit_precision", "quadratic", "cubic", "interactions", "noconstant", "oaa", "probabilities", "scores", "indexing", "named_labels", "ftrl", "pistol", "coin", "ftrl_alpha", "ftrl_beta", "freegrad", "fepsilon", "flipschitz_const", "restart", "project", "radius",
	"mode", "quiet", "log_level", "log_format", "hdfs_client", "hdfs_keytab", "hdfs_principal", "s3_endpoint"),
	[]*cli.Spec{{Name: "help", Short: "h", Kind: cli.Boolean, Category: catOther, Help: "this page"}})

// learnersOf returns options of the learner.
func learnersOf(names ...string) []*cli.Spec {
	var list []*cli.Spec
	for _, name := range names {
		i := slices.IndexFunc(Learn, func(s *cli.Spec) bool { return s.Name == name })
		list = append(list, Learn[i])
	}
	return list
}
