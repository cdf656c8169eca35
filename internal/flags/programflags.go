// SPDX-License-Identifier: Apache-2.0

package flags

import (
	"slices"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/learn/nn"
)

// catProgram is the category of the options of a learner's own model.
const catProgram = "Model and learning"

// SVM are the options of `gvw svm`.
var SVM = programFlags(
	&cli.Spec{Name: "bit_precision", Short: "b", Kind: cli.Integer, Positive: true, Max: 31, Category: catProgram, Arg: "BITS", Def: "18", Help: "log2 of the number of weights"},
	&cli.Spec{Name: "lambda", Kind: cli.Float, Positive: true, Category: catProgram, Arg: "X", Def: "1e-4", Help: "L2 regularisation: factor of x/2 times the squared weights, per example"},
	&cli.Spec{Name: "t0", Kind: cli.Float, Positive: true, Category: catProgram, Arg: "N", Help: "offset of the learning rate 1/(lambda(t+t0)); found on a sample if left out"},
	&cli.Spec{Name: "average", Kind: cli.Boolean, Category: catProgram, Help: "predict with the mean of the weights after each step, from pass 2 on"},
	stepRate, stepMomentum,
)

// Factor are the options of `gvw factor`.
var Factor = programFlags(
	&cli.Spec{Name: "rank", Kind: cli.Integer, Positive: true, Max: 4096, Category: catProgram, Arg: "K", Def: "10", Help: "factors of each user and item"},
	&cli.Spec{Name: "only_biases", Kind: cli.Boolean, Category: catProgram, Help: "leave the factors out"},
	&cli.Spec{Name: "learning_rate", Short: "l", Kind: cli.Float, Positive: true, Category: catProgram, Arg: "R", Def: "0.01", Help: "length of a step in the first pass"},
	&cli.Spec{Name: "rate_decay", Kind: cli.Float, Category: catProgram, Arg: "X", Def: "0", Help: "pass n, from 0, has the rate R/(1+nX)"},
	&cli.Spec{Name: "lambda", Kind: cli.Float, Positive: true, Category: catProgram, Arg: "X", Def: "0.05", Help: "L2 regularisation of biases and factors, per rating"},
)

// NN are the options of `gvw nn`.
var NN = programFlags(
	&cli.Spec{Name: "hidden", Kind: cli.Text, Category: catProgram, Arg: "N,N,..", Help: "units of the hidden layers, from the input up; none: a linear model"},
	&cli.Spec{Name: "classes", Kind: cli.Integer, Positive: true, Max: nn.MaxUnits, Category: catProgram, Arg: "K", Def: "1", Help: "labels are classes from 1 to K; 1: labels above 0 are the positive class"},
	&cli.Spec{Name: "loss_function", Kind: cli.Text, Category: catProgram, Arg: "LOSS", Choices: nn.Losses, Help: "loss: that of K classes is softmax if left out, that of one score logistic"},
	&cli.Spec{Name: "activation", Kind: cli.Text, Category: catProgram, Arg: "F", Choices: nn.Activations, Def: nn.ReLU, Help: "activation of hidden layers"},
	&cli.Spec{Name: "embedding", Kind: cli.Boolean, Category: catProgram, Help: "no activation for the first hidden layer"},
	&cli.Spec{Name: "text", Kind: cli.Boolean, Category: catProgram, Help: "take log(1+x) of values, and scale examples to length 1"},
	&cli.Spec{Name: "standardize", Kind: cli.Boolean, Category: catProgram, Help: "give each feature mean 0 and deviation 1: for dense data"},
	&cli.Spec{Name: "quantile_transform", Kind: cli.Boolean, Category: catProgram, Help: "replace each value by its place among the values of its feature: for dense data"},
	&cli.Spec{Name: "average", Kind: cli.Boolean, Category: catProgram, Help: "predict with the mean of the weights after each pass, from pass 2 on"},
	&cli.Spec{Name: "batch", Kind: cli.Integer, Positive: true, Category: catProgram, Arg: "N", Def: "32", Help: "examples of a step"},
	&cli.Spec{Name: "rule", Kind: cli.Text, Category: catProgram, Arg: "R", Choices: nn.Rules, Def: nn.AdaGrad, Help: "rule of a step"},
	&cli.Spec{Name: "learning_rate", Short: "l", Kind: cli.Float, Positive: true, Category: catProgram, Arg: "R", Def: "0.02", Help: "length of a step in the first pass"},
	&cli.Spec{Name: "rate_decay", Kind: cli.Float, Category: catProgram, Arg: "X", Def: "0", Help: "pass n, from 0, has the rate R/(1+nX)"},
	&cli.Spec{Name: "momentum", Kind: cli.Float, Category: catProgram, Arg: "M", Def: "0.9", Help: "share of the last step in the next one, with --rule momentum"},
	&cli.Spec{Name: "lambda", Kind: cli.Float, Category: catProgram, Arg: "X", Def: "0", Help: "L2 regularisation of weights, per step"},
	&cli.Spec{Name: "layer_graphs", Kind: cli.Text, Category: catCluster, Arg: "G,G,..", Help: "graphs of the layers, from the input up, instead of --malt"},
	&cli.Spec{Name: "layer_syncs", Kind: cli.Text, Category: catCluster, Arg: "H,H,..", Help: "likewise, instead of --sync"},
	&cli.Spec{Name: "whole_every", Kind: cli.Integer, Positive: true, Category: catCluster, Arg: "N", Def: "1", Help: "send whole weights in each N-th exchange, and only changes in the others"},
	stepRate, stepMomentum,
)

// stepRate and stepMomentum are the options of the outer optimiser, for learners that average models.
var (
	stepRate     = &cli.Spec{Name: "outer_rate", Kind: cli.Float, Positive: true, Category: catCluster, Arg: "X", Def: "1", Help: "length of the step to the mean of the models"}
	stepMomentum = &cli.Spec{Name: "outer_momentum", Kind: cli.Float, Category: catCluster, Arg: "M", Def: "0", Help: "Nesterov momentum of these steps, below 1"}
)

// programFlags returns the options of a learner of package programs: those that all have, and its own.
func programFlags(own ...*cli.Spec) []*cli.Spec {
	return slices.Concat([]*cli.Spec{
		{Name: "data", Short: "d", Kind: cli.Text, Category: catInput, Arg: "FILE", Repeat: true, Help: "examples: a file, 'pattern*' or -; repeatable"},
		{Name: "libsvm", Kind: cli.Boolean, Category: catInput, Help: "examples are lines of LIBSVM's: label index:value .."},
		{Name: "passes", Kind: cli.Integer, Positive: true, Category: catInput, Arg: "N", Def: "10", Help: "passes over the examples, which are kept in memory"},
		{Name: "random_seed", Kind: cli.Integer, Max: 1<<64 - 1, Category: catInput, Arg: "N", Def: "0", Help: "seed of the order of examples and of the first weights"},
		{Name: "testonly", Short: "t", Kind: cli.Boolean, Category: catInput, Help: "predict only, learn nothing"},
		{Name: "initial_regressor", Short: "i", Kind: cli.Text, Category: catOutput, Arg: "FILE", Help: "read this model first"},
		{Name: "final_regressor", Short: "f", Kind: cli.Text, Category: catOutput, Arg: "FILE", Help: "write the model; in a job the lowest rank that is left does"},
		{Name: "predictions", Short: "p", Kind: cli.Text, Category: catOutput, Arg: "FILE", Help: "write the predictions"},
		{Name: "quiet", Kind: cli.Boolean, Category: catOutput, Help: "errors only"},
	}, own, []*cli.Spec{
		{Name: "malt", Kind: cli.Text, Category: catCluster, Arg: "GRAPH", Help: "exchange models with other ranks along a graph (docs/malt.md): " + graphNames},
		{Name: "sync", Kind: cli.Text, Category: catCluster, Arg: "HOW", Def: "asp", Help: "asp, bsp, ssp:S or notify_ack: for which ranks an exchange waits"},
		{Name: "cb_size", Kind: cli.Integer, Positive: true, Category: catCluster, Arg: "N", Def: "1000", Help: "examples between two exchanges"},
		{Name: "malt_compress", Kind: cli.Text, Category: catCluster, Arg: "HOW", Choices: []string{"f16", "q8"}, Help: "send 16 or 8 bits of a value instead of 32"},
	}, clusterFlags("spare", "shard", "generation", "run_dir", "replace_timeout", "slow_factor", "stall_timeout", "file_timeout", "elastic", "checkpoint", "checkpoint_every", "checkpoint_interval", "resume", "schedule", "checksum", "shm", "timeline", "log_to_server", "trace_dir", "allow_vw", "job_token"),
		[]*cli.Spec{{Name: "help", Short: "h", Kind: cli.Boolean, Category: catOther, Help: "this page"}})
}
