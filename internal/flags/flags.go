// SPDX-License-Identifier: Apache-2.0

package flags

import (
	"slices"

	"github.com/gvw-project/gvw/hdfsio/hdfs"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/logformat"
)

// Categories, in the order of help.
const (
	catInput   = "Input"
	CatFeature = "Features"
	catModel   = "Model"
	catUpdate  = "Learning"
	catBatch   = "L-BFGS and hybrid"
	catOutput  = "Output"
	catCluster = "Cluster"
	catRun     = "Local cluster"
	catOther   = "Other"
)

// Learn are the options of the learner.
var Learn = slices.Concat([]*cli.Spec{
	{Name: "data", Short: "d", About: "Data.Inputs", Kind: cli.Text, Category: catInput, Arg: "FILE", Repeat: true, Help: "examples: a file, 'pattern*' or -; repeatable"},
	{Name: "args", Kind: cli.Text, Category: catInput, Arg: "FILE", More: true, Help: "train a model for each line of FILE, which has its options, on the data of the first line"},
	{Name: "passes", Sets: "Passes", Kind: cli.Integer, Category: catInput, Arg: "N", Def: "1", Help: "passes; more than one needs a cache"},
	{Name: "cache", Short: "c", Kind: cli.Boolean, Category: catInput, Help: "keep the parsed examples in DATA.cache"},
	{Name: "cache_file", About: "Data.Cache", Kind: cli.List, Single: true, Category: catInput, Arg: "FILE", Help: "keep the parsed examples in FILE"},
	{Name: "kill_cache", Short: "k", Sets: "Data.KillCache", Kind: cli.Boolean, Category: catInput, Help: "rebuild the cache, even if it is valid"},
	{Name: "testonly", Short: "t", Sets: "TestOnly", Kind: cli.Boolean, Category: catInput, Help: "predict only, learn nothing"},
	{Name: "examples", Sets: "Data.Examples", Kind: cli.Integer, Positive: true, Unset: "-1", Category: catInput, Arg: "N", More: true, Help: "use only the first N examples"},
	{Name: "initial_pass_length", Sets: "Data.PassLength", Kind: cli.Integer, Positive: true, Unset: "-1", Category: catInput, Arg: "N", More: true, Help: "end the first pass after N examples"},
	{Name: "holdout_off", Sets: "Holdout.Off", Kind: cli.Boolean, Category: catInput, More: true, Help: "learn from every example in several passes"},
	{Name: "holdout_period", Sets: "Holdout.Period", Kind: cli.Integer, Positive: true, Category: catInput, Arg: "N", Def: "10", More: true, Help: "hold out every N-th example"},
	{Name: "holdout_after", Sets: "Holdout.After", Kind: cli.Integer, Positive: true, Unset: "0", Category: catInput, Arg: "N", More: true, Help: "hold out all examples after the N-th"},
	{Name: "early_terminate", Sets: "Holdout.EarlyTerminate", Kind: cli.Integer, Positive: true, Category: catInput, Arg: "N", Def: "3", More: true, Help: "passes without improvement before the end"},

	{Name: "example_memory", Sets: "Data.ExampleMemory", Read: mebibytes, Kind: cli.Integer, Category: catInput, Arg: "MiB", Def: "512", More: true, Help: "examples that passes over a cache keep in memory, at most; 0: none"},
	{Name: "shuffle", Sets: "Data.Shuffle", Kind: cli.Boolean, Category: catInput, More: true, Help: "read the examples in a random order from pass 2 on"},
	{Name: "shuffle_memory", Sets: "Data.ShuffleMemory", Read: mebibytes, Kind: cli.Integer, Positive: true, Category: catInput, Arg: "MiB", Def: "512", More: true, Help: "shuffle buffer"},
	{Name: "classweight", Alias: "class_weights", Sets: "Data.ClassWeights", Read: classWeights, Kind: cli.List, Category: catInput, Arg: "CLASS:W", More: true, Help: "weights of classes, like 1:3,-1:0.5; also --class_weights"},
	{Name: "valid", About: "Holdout.Valid", Kind: cli.Text, Category: catInput, Arg: "FILE", Repeat: true, More: true, Help: "stop when the loss on FILE no longer falls; with --lda print the perplexity of FILE"},

	{Name: "json", Sets: "Data.Format", Read: sameWord, Kind: cli.Boolean, Category: catInput, More: true, Help: "examples are JSON objects, one a line"},
	{Name: "csv", Sets: "Data.Format", Read: sameWord, Kind: cli.Boolean, Category: catInput, More: true, Help: "examples are rows of CSV"},
	{Name: "csv_separator", Sets: "Data.CSV.Separator", Kind: cli.Text, Category: catInput, Arg: "C", Def: ",", More: true, Help: "character between cells; \\t is a tab"},
	{Name: "csv_no_file_header", Sets: "Data.CSV.NoFileHeader", Kind: cli.Boolean, Category: catInput, More: true, Help: "the first line of a file is a row"},
	{Name: "csv_header", Sets: "Data.CSV.Header", Kind: cli.Text, Category: catInput, Arg: "NAMES", More: true, Help: "names of the columns, instead of the file's: _label,a|x,y"},
	{Name: "csv_ns_value", Sets: "Data.CSV.NamespaceValues", Kind: cli.Text, Category: catInput, Arg: "LIST", More: true, Help: "factors on namespaces: a:0.5,:8"},
	{Name: "label", Sets: "Data.CSV.Label", Kind: cli.Text, Category: catInput, Arg: "COLUMN", More: true, Help: "with --csv: name or number of the column with the labels"},
	{Name: "libsvm", Sets: "Data.Format", Read: sameWord, Kind: cli.Boolean, Category: catInput, More: true, Help: "examples are lines of LIBSVM: label index:value ..."},
	{Name: "csr", Sets: "Data.Format", Read: sameWord, Kind: cli.Boolean, Category: catInput, More: true, Help: "examples are binary frames of rows, as programs write them"},
	{Name: "no_stdin", Kind: cli.Boolean, Category: catInput, More: true, Help: "without -d and a cache read no examples, instead of stdin"},
	{Name: "strict_parse", Sets: "Data.Strict", Kind: cli.Boolean, Category: catInput, More: true, Help: "a malformed line is an error"},
	{Name: "max_line", Sets: "Data.MaxLine", Kind: cli.Integer, Positive: true, Category: catInput, Arg: "BYTES", Def: "67108864", More: true, Help: "longest line"},

	{Name: "daemon", Kind: cli.Boolean, Category: catInput, More: true, Help: "answer clients over vw's socket protocol, in the background"},
	{Name: "foreground", Kind: cli.Boolean, Category: catInput, More: true, Help: "with --daemon: stay in the foreground"},
	{Name: "port", Kind: cli.Integer, Max: 65535, Category: catInput, Arg: "PORT", Def: "26542", More: true, Help: "start a daemon on this port; 0: any free one"},
	{Name: "port_file", Kind: cli.Text, Category: catInput, Arg: "FILE", More: true, Help: "with --daemon: write the port to FILE"},
	{Name: "pid_file", Kind: cli.Text, Category: catInput, Arg: "FILE", More: true, Help: "start a daemon that writes its process ID to FILE"},
	{Name: "num_children", Kind: cli.Integer, Positive: true, Category: catInput, Arg: "N", Def: "10", More: true, Help: "with --daemon: batches of lines that are processed at the same time"},

	{Name: "hdfs_client", Kind: cli.Text, Category: catInput, Arg: "WAY", Choices: hdfs.Clients, Def: "auto", More: true, Help: "client for hdfs:// files; auto: the first that works"},
	{Name: "hdfs_keytab", Kind: cli.Text, Category: catInput, Arg: "FILE", More: true, Help: "Kerberos keys for hdfs://, instead of kinit's ticket"},
	{Name: "hdfs_principal", Kind: cli.Text, Category: catInput, Arg: "NAME@REALM", More: true, Help: "whose keys of --hdfs_keytab to use"},

	{Name: "bit_precision", Short: "b", Sets: "Features.Bits", Kind: cli.Integer, Positive: true, Category: CatFeature, Arg: "B", Def: "18", Help: "2^B weights"},
	{Name: "quadratic", Short: "q", Sets: "Features.Namespaces.Quadratic", Kind: cli.List, Category: CatFeature, Arg: "AB", Help: "cross namespaces A and B; ':' is any"},
	{Name: "cubic", Sets: "Features.Namespaces.Cubic", Kind: cli.List, Category: CatFeature, Arg: "ABC", More: true, Help: "cross three namespaces"},
	{Name: "interactions", Sets: "Features.Namespaces.Interactions", Kind: cli.List, Category: CatFeature, Arg: "AB..", More: true, Help: "cross two or more namespaces"},
	{Name: "permutations", Sets: "Features.Namespaces.Permutations", Kind: cli.Boolean, Category: CatFeature, More: true, Help: "cross a namespace with itself in every order"},
	{Name: "leave_duplicate_interactions", Sets: "Features.Namespaces.LeaveDuplicates", Kind: cli.Boolean, Category: CatFeature, More: true, Help: "keep interactions of the same namespaces"},
	{Name: "ignore", Sets: "Features.Namespaces.Ignore", Kind: cli.List, Category: CatFeature, Arg: "A", More: true, Help: "drop namespaces that begin with A"},
	{Name: "ignore_linear", Sets: "Features.Namespaces.IgnoreLinear", Kind: cli.List, Category: CatFeature, Arg: "A", More: true, Help: "use namespaces that begin with A only in interactions"},
	{Name: "keep", Sets: "Features.Namespaces.Keep", Kind: cli.List, Category: CatFeature, Arg: "A", More: true, Help: "drop all namespaces but those that begin with A"},
	{Name: "redefine", Sets: "Features.Namespaces.Redefine", Kind: cli.List, Category: CatFeature, Arg: "N:=S", More: true, Help: "count namespaces that begin with one of S as N; ':' is any"},
	{Name: "ngram", Sets: "Features.Namespaces.NGrams", Kind: cli.List, Category: CatFeature, Arg: "N|AN", More: true, Help: "n-grams up to N, in all namespaces or those that begin with A"},
	{Name: "skips", Sets: "Features.Namespaces.Skips", Kind: cli.List, Category: CatFeature, Arg: "N|AN", More: true, Help: "features that n-grams may skip"},
	{Name: "feature_limit", Sets: "Features.Namespaces.Limits", Read: featureLimits, Kind: cli.List, Category: CatFeature, Arg: "N|AN", More: true, Help: "different features of a namespace, at most"},
	{Name: "affix", Sets: "Features.Namespaces.Affix", Kind: cli.Text, Category: CatFeature, Arg: "LIST", More: true, Help: "prefixes and suffixes of names: +2a,-3b"},
	{Name: "spelling", Sets: "Features.Namespaces.Spelling", Kind: cli.List, Category: CatFeature, Arg: "A", More: true, Help: "add features for the kinds of letters in the names of A; _ is the default namespace"},
	{Name: "dictionary", Sets: "Features.Namespaces.Dictionary", Kind: cli.List, Category: CatFeature, Arg: "[A:]FILE", More: true, Help: "features to add to those whose names are words of FILE, in A or the default namespace"},
	{Name: "dictionary_path", About: "Features.DictionaryPath", Kind: cli.List, Category: CatFeature, Arg: "DIR", More: true, Help: "folders in which dictionaries are searched"},
	{Name: "sort_features", Sets: "Features.Namespaces.SortFeatures", Kind: cli.Boolean, Category: CatFeature, More: true, Help: "sort the features of a namespace, and drop repeated ones"},
	{Name: "chain_hash", Sets: "Features.Namespaces.ChainHash", Kind: cli.Boolean, Category: CatFeature, More: true, Help: "hash text values in JSON as in text"},
	{Name: "constant", Short: "C", Sets: "Features.Constant", Kind: cli.Float, Unset: "0", Category: CatFeature, Arg: "X", Def: "0", More: true, Help: "weight of the constant feature at the start"},
	{Name: "noconstant", Sets: "Features.NoConstant", Kind: cli.Boolean, Category: CatFeature, More: true, Help: "no constant feature"},
	{Name: "hash", Sets: "Features.Hash", Kind: cli.Text, Category: CatFeature, Arg: "HOW", Choices: []string{"all", "strings"}, Def: "strings", More: true, Help: "how to hash names; all: numbers too"},
	{Name: "hash_seed", Sets: "Features.HashSeed", Kind: cli.Integer, Max: 1<<32 - 1, Wraps: true, Category: CatFeature, Arg: "N", Def: "0", More: true, Help: "seed of the hash"},

	{Name: "final_regressor", Short: "f", Sets: "Model.Final", Kind: cli.Text, Category: catModel, Arg: "FILE", Help: "write the model"},
	{Name: "initial_regressor", Short: "i", Sets: "Model.Initial", Kind: cli.List, Single: true, Category: catModel, Arg: "FILE", Help: "start from a model"},
	{Name: "readable_model", Sets: "Model.Readable", Kind: cli.Text, Category: catModel, Arg: "FILE", More: true, Help: "write the weights as text"},
	{Name: "invert_hash", Sets: "Model.InvertHash", Kind: cli.Text, Category: catModel, Arg: "FILE", More: true, Help: "write the weights as text, with names"},
	{Name: "hexfloat_weights", Sets: "Model.HexWeights", Kind: cli.Boolean, Category: catModel, More: true, Help: "write the weights of text models in hexadecimal"},
	{Name: "id", Sets: "Model.ID", Kind: cli.Text, Category: catModel, Arg: "TEXT", More: true, Help: "text that identifies the model, kept in it"},
	{Name: "save_per_pass", Sets: "Model.SavePerPass", Kind: cli.Boolean, Category: catModel, More: true, Help: "also write MODEL.N after pass N"},
	{Name: "preserve_performance_counters", Sets: "Model.PreserveCounters", Kind: cli.Boolean, Category: catModel, More: true, Help: "continue the counters and losses of -i"},
	{Name: "predict_only_model", Sets: "Model.PredictOnly", Kind: cli.Boolean, Category: catModel, More: true, Help: "leave out the state that further training needs"},

	{Name: "loss_function", Sets: "Loss.Function", Kind: cli.Text, Category: catUpdate, Arg: "LOSS", Def: "squared", Help: "squared, logistic, hinge and others"},
	{Name: "quantile_tau", Sets: "Loss.QuantileTau", Kind: cli.Float, Positive: true, Category: catUpdate, Arg: "X", Def: "0.5", More: true, Help: "share of labels below the prediction, for the quantile loss"},
	{Name: "expectile_q", Sets: "Loss.ExpectileQ", Kind: cli.Float, Positive: true, Category: catUpdate, Arg: "X", More: true, Help: "weight of predictions above the label, for the expectile loss"},
	{Name: "logistic_min", Sets: "Loss.LogisticMin", Kind: cli.Float, Category: catUpdate, Arg: "X", Def: "-1", More: true, Help: "label of the negative class, for the logistic loss"},
	{Name: "logistic_max", Sets: "Loss.LogisticMax", Kind: cli.Float, Category: catUpdate, Arg: "X", Def: "1", More: true, Help: "label of the positive class, for the logistic loss"},
	{Name: "min_prediction", Sets: "Loss.MinPrediction", Kind: cli.Float, Category: catUpdate, Arg: "X", More: true, Help: "smallest prediction; the smallest label seen if not given"},
	{Name: "max_prediction", Sets: "Loss.MaxPrediction", Kind: cli.Float, Category: catUpdate, Arg: "X", More: true, Help: "largest prediction; the largest label seen if not given"},
	{Name: "learning_rate", Short: "l", Sets: "SGD.LearningRate", Kind: cli.Float, Category: catUpdate, Arg: "X", Def: "0.5", Help: "learning rate"},
	{Name: "power_t", Sets: "SGD.PowerT", Kind: cli.Float, Category: catUpdate, Arg: "X", Def: "0.5", More: true, Help: "exponent of the learning rate's decay"},
	{Name: "initial_t", Sets: "SGD.InitialT", Kind: cli.Float, Category: catUpdate, Arg: "X", More: true, Help: "start of the decay"},
	{Name: "decay_learning_rate", Sets: "SGD.DecayLearningRate", Kind: cli.Float, Positive: true, Category: catUpdate, Arg: "X", Def: "1", More: true, Help: "factor on the learning rate after each pass"},
	{Name: "l1", Sets: "Reg.L1", Read: notNegative, Kind: cli.Float, Unset: "0", Category: catUpdate, Arg: "X", Def: "0", More: true, Help: "L1 regularisation of SGD"},
	{Name: "l2", Sets: "Reg.L2", Read: notNegative, Kind: cli.Float, Unset: "0", Category: catUpdate, Arg: "X", Def: "0", Help: "L2 regularisation"},
	{Name: "adax", Sets: "SGD.Adax", Kind: cli.Boolean, Category: catUpdate, More: true, Help: "with --adaptive: sum x² instead of g²·x²"},
	{Name: "sparse_l2", Sets: "Reg.SparseL2", Kind: cli.Float, Category: catUpdate, Arg: "X", Def: "0", More: true, Help: "L2 regularisation of the weights of the current example"},
	{Name: "l1_state", Sets: "Reg.L1State", Kind: cli.Float, Category: catUpdate, Arg: "X", Def: "0", More: true, Help: "what L1 has taken from every weight before the start"},
	{Name: "l2_state", Sets: "Reg.L2State", Kind: cli.Float, Category: catUpdate, Arg: "X", Def: "1", More: true, Help: "the factor that L2 has put on every weight before the start"},
	{Name: "feature_mask", Sets: "Model.FeatureMask", Kind: cli.Text, Category: catUpdate, Arg: "FILE", More: true, Help: "start from this model and train only weights that are not 0 in it"},
	{Name: "initial_weight", Sets: "Model.Start.Weight", Kind: cli.Float, Unset: "0", Category: catUpdate, Arg: "X", Def: "0", More: true, Help: "every weight at the start"},
	{Name: "random_weights", Sets: "Model.Start.Random", Kind: cli.Boolean, Category: catUpdate, More: true, Help: "start weights from -0.5 to 0.5"},
	{Name: "normal_weights", Sets: "Model.Start.Normal", Kind: cli.Boolean, Category: catUpdate, More: true, Help: "start weights of the normal distribution"},
	{Name: "truncated_normal_weights", Sets: "Model.Start.Truncated", Kind: cli.Boolean, Category: catUpdate, More: true, Help: "start weights of the normal distribution, within two standard deviations"},
	{Name: "random_seed", Sets: "Model.Start.Seed,Data.ShuffleSeed,Batch.SampleSeed", Kind: cli.Integer, Max: 1<<64 - 1, Wraps: true, Category: catUpdate, Arg: "N", Def: "0", More: true, Help: "seed of all that is drawn"},
	{Name: "sgd", Sets: "SGD.Plain", Kind: cli.Boolean, Category: catUpdate, More: true, Help: "plain SGD: none of the next three by itself"},
	{Name: "adaptive", Sets: "SGD.Adaptive", Kind: cli.Boolean, Category: catUpdate, More: true, Help: "a learning rate for each feature"},
	{Name: "normalized", Sets: "SGD.Normalized", Kind: cli.Boolean, Category: catUpdate, More: true, Help: "updates that do not depend on a feature's scale"},
	{Name: "invariant", Sets: "SGD.Invariant", Kind: cli.Boolean, Category: catUpdate, More: true, Help: "updates that respect importance weights"},

	{Name: "ftrl", Sets: "FTRL.Rule", Read: ftrlRule, Kind: cli.Boolean, Category: catUpdate, More: true, Help: "follow the proximally regularised leader; one process"},
	{Name: "pistol", Sets: "FTRL.Rule", Read: ftrlRule, Kind: cli.Boolean, Category: catUpdate, More: true, Help: "PiSTOL, which needs no learning rate; one process"},
	{Name: "coin", Sets: "FTRL.Rule", Read: ftrlRule, Kind: cli.Boolean, Category: catUpdate, More: true, Help: "coin betting, which needs no learning rate; one process"},
	{Name: "ftrl_alpha", Sets: "FTRL.Alpha", Kind: cli.Float, Category: catUpdate, Arg: "X", More: true, Help: "α of the three: 0.5, 1 and 4 if not given"},
	{Name: "ftrl_beta", Sets: "FTRL.Beta", Kind: cli.Float, Category: catUpdate, Arg: "X", More: true, Help: "β of the three: 1, 0.5 and 1 if not given"},
	{Name: "oaa", Sets: "OAA.Classes", Kind: cli.Integer, Positive: true, Category: catUpdate, Arg: "K", Help: "K classes, one against all, for labels 1 to K"},
	{Name: "probabilities", Sets: "OAA.Probabilities", Kind: cli.Boolean, Category: catUpdate, More: true, Help: "with --oaa: predict every class's probability"},
	{Name: "scores", Sets: "OAA.Scores", Kind: cli.Boolean, Category: catUpdate, More: true, Help: "with --oaa: predict every class's score"},
	{Name: "indexing", Sets: "OAA.Indexing", Read: number, Kind: cli.Text, Category: catUpdate, Arg: "N", Choices: []string{"0", "1"}, More: true, Help: "with --oaa and --csoaa: the first label; by the data if not given"},
	{Name: "named_labels", Sets: "OAA.NamedLabels", Kind: cli.Text, Category: catUpdate, Arg: "A,B,C", More: true, Help: "with --oaa: labels are these names"},
	{Name: "oaa_subsample", Sets: "OAA.Subsample", Kind: cli.Integer, Positive: true, Unset: "0", Category: catUpdate, Arg: "N", More: true, Help: "with --oaa: only N of the other classes learn from an example"},

	{Name: "lda", Sets: "LDA.Topics", Kind: cli.Integer, Positive: true, Category: catUpdate, Arg: "K", More: true, Help: "learn K topics from documents, whose features are counts of words"},
	{Name: "lda_alpha", Sets: "LDA.Alpha", Kind: cli.Float, Category: catUpdate, Arg: "X", Def: "0.1", More: true, Help: "with --lda: prior of a document's share of each topic"},
	{Name: "learn_alpha", Sets: "LDA.LearnAlpha", Kind: cli.Boolean, Category: catUpdate, More: true, Help: "with --lda: learn a prior for each topic, beginning with --lda_alpha"},
	{Name: "lda_rho", Sets: "LDA.Rho", Kind: cli.Float, Category: catUpdate, Arg: "X", Def: "0.1", More: true, Help: "with --lda: prior of a topic's share of each word"},
	{Name: "lda_D", Sets: "LDA.Documents", Kind: cli.Float, Positive: true, Category: catUpdate, Arg: "N", Def: "10000", More: true, Help: "with --lda: documents of the whole collection"},
	{Name: "lda_epsilon", Sets: "LDA.Epsilon", Kind: cli.Float, Positive: true, Category: catUpdate, Arg: "X", Def: "0.001", More: true, Help: "with --lda: change at which the topics of a document are found"},
	{Name: "minibatch", Sets: "LDA.Batch", Kind: cli.Integer, Positive: true, Category: catUpdate, Arg: "N", Def: "1", More: true, Help: "with --lda: documents that are learned from together"},
	{Name: "math_mode", Sets: "LDA.Arithmetic", Read: number, Kind: cli.Text, Category: catUpdate, Arg: "N", Choices: []string{"0", "1", "2"}, Def: "0", More: true, Help: "with --lda: float32 (0 and 2) or float64 (1)"},

	{Name: "bfgs", Sets: "Batch.BFGS", Kind: cli.Boolean, Category: catBatch, Help: "learn by L-BFGS, over --passes"},
	{Name: "conjugate_gradient", Sets: "Batch.ConjugateGradient", Kind: cli.Boolean, Category: catBatch, More: true, Help: "learn by conjugate gradients, over --passes"},
	{Name: "hybrid", Sets: "Hybrid", Read: hybridPasses, Kind: cli.Text, Category: catBatch, Arg: "P:Q", Help: "P passes of SGD, then up to Q passes of L-BFGS"},
	{Name: "mem", Sets: "Batch.Mem", Kind: cli.Integer, Category: catBatch, Arg: "M", Def: "15", More: true, Help: "pairs that L-BFGS remembers; 0: conjugate gradients"},
	{Name: "hessian_on", Sets: "Batch.HessianOn", Kind: cli.Boolean, Category: catBatch, More: true, Help: "find every step by a curvature pass"},
	{Name: "termination", Sets: "Batch.Termination", Kind: cli.Float, Category: catBatch, Arg: "X", Def: "0.001", More: true, Help: "least relative decrease of the loss"},
	{Name: "no_bias_regularization", Sets: "Reg.NoBias", Kind: cli.Boolean, Category: catBatch, More: true, Help: "do not regularise the constant by --l2"},
	{Name: "input_feature_regularizer", Sets: "Reg.Input", Kind: cli.Text, Category: catBatch, Arg: "FILE", More: true, Help: "start from these weights, and regularise each by its own λ"},
	{Name: "output_feature_regularizer_binary", Sets: "Reg.Output", Kind: cli.Text, Category: catBatch, Arg: "FILE", Empty: true, More: true, Help: "write such a file, with the Hessian at the end as λ"},
	{Name: "output_feature_regularizer_text", Sets: "Reg.OutputText", Kind: cli.Text, Category: catBatch, Arg: "FILE", Empty: true, More: true, Help: "write the same as text"},
	{Name: "bfgs_semantics", Sets: "Batch.Semantics", Read: bfgsSemantics, Kind: cli.Text, Category: catBatch, Arg: "S", Choices: []string{"vw7", "vw9"}, Def: "vw7", More: true, Help: "vw9: the preconditioner of vw 8.2 and later, for jobs with its workers"},
	{Name: "solver", Sets: "Batch.Solver", Kind: cli.Text, Category: catBatch, Arg: "S", Choices: []string{"auto", "giant", "lbfgs", "newton"}, Def: "lbfgs", More: true, Help: "newton: few passes; giant: few exchanges; auto: by measured times"},
	{Name: "hessian_sample", Sets: "Batch.HessianSample", Kind: cli.Float, Category: catBatch, Arg: "X", More: true, Help: "with --solver: share of the examples in the Hessian (1; auto: 0.1)"},
	{Name: "sgd_l2", Sets: "Reg.SGDL2", Kind: cli.Float, Category: catBatch, Arg: "X", Def: "0", More: true, Help: "L2 regularisation of the hybrid's SGD"},

	{Name: "predictions", Short: "p", Sets: "Output.Predictions", Kind: cli.Text, Category: catOutput, Arg: "FILE", Help: "write predictions; \"stdout\" is standard output"},
	{Name: "raw_predictions", Short: "r", Sets: "Output.RawPredictions", Kind: cli.Text, Category: catOutput, Arg: "FILE", More: true, Help: "write predictions before the link"},
	{Name: "link", Sets: "Loss.Link", Kind: cli.Text, Category: catOutput, Arg: "LINK", Choices: []string{"identity", "logistic", "glf1", "poisson"}, Def: "identity", Help: "logistic: probabilities"},
	{Name: "binary", Sets: "Loss.Binary", Kind: cli.Boolean, Category: catOutput, More: true, Help: "predict -1 or 1"},
	{Name: "progress", Short: "P", Sets: "Diagnostics.Progress", Kind: cli.Text, Category: catOutput, Arg: "N|X", Def: "2.0", Help: "row every N, or X.0 times, examples"},
	{Name: "metrics", Sets: "Metrics.Measures", Read: measures, Kind: cli.Text, Category: catOutput, Arg: "LIST", More: true, Help: "measure logloss,accuracy,auc,auprc,rmse,calibration"},
	{Name: "metrics_file", Sets: "Metrics.File", Kind: cli.Text, Category: catOutput, Arg: "FILE", More: true, Help: "write the measures as JSON"},
	{Name: "extra_metrics", Sets: "Metrics.Extra", Kind: cli.Text, Category: catOutput, Arg: "FILE", More: true, Help: "write counts of calls as JSON, as vw does"},
	{Name: "log_json", About: "Metrics.PassLog", Kind: cli.Text, Category: catOutput, Arg: "FILE", More: true, Help: "write one line of JSON a pass"},
	{Name: "record", About: "Diagnostics.Waited", Kind: cli.Text, Category: catOutput, Arg: "FILE", More: true, Help: "write what happens in the run as JSON lines, for gvw report"},
	{Name: "audit", Short: "a", About: "Output.Audit", Kind: cli.Boolean, Category: catOutput, More: true, Help: "write each example's features and weights to stdout"},
	{Name: "progress_bar", Kind: cli.Text, Category: catOutput, Arg: "WHEN", Choices: []string{"auto", "on", "off"}, Def: "auto", More: true, Help: "a line with progress, time left, loss and rate; auto: on a terminal"},
	{Name: "quiet", Sets: "Diagnostics.Quiet", Kind: cli.Boolean, Category: catOutput, More: true, Help: "errors only"},
	{Name: "driver_output_off", Kind: cli.Boolean, Category: catOutput, More: true, Help: "no table and no summary"},
	{Name: "driver_output", About: "Diagnostics.Writer", Kind: cli.Text, Category: catOutput, Arg: "STREAM", Choices: []string{"stderr", "stdout"}, Def: "stderr", More: true, Help: "stream of the table and the summary"},
	{Name: "log_format", Kind: cli.Text, Category: catOutput, Arg: "FORM", Choices: logformat.All, Def: "text", More: true, Help: "log lines and the last error as text, or as objects of JSON"},
	{Name: "log_level", Kind: cli.Text, Category: catOutput, Arg: "LEVEL", Choices: []string{"critical", "error", "info", "off", "warn"}, Def: "info", More: true, Help: "least level of log lines and notes"},
	{Name: "dont_output_best_constant", Sets: "Diagnostics.NoBestConstant", Kind: cli.Boolean, Category: catOutput, More: true, Help: "leave the best constant out of the summary"},
	{Name: "mode", About: "Data.CacheMode", Kind: cli.Text, Category: catOutput, Arg: "MODE", Def: "600", More: true, Help: "permissions of new files, octal: 644 lets all read them"},

	{Name: "span_server", About: "Cluster.Join.Server", Kind: cli.Text, Category: catCluster, Arg: "HOST", Help: "host of the spanning_tree server"},
	{Name: "span_server_port", Kind: cli.Integer, Max: 65535, Category: catCluster, Arg: "PORT", Def: "26543", More: true, Help: "its port"},
	{Name: "unique_id", Sets: "Cluster.Join.Job.UniqueID", Kind: cli.Integer, Max: 1<<64 - 1, Category: catCluster, Arg: "N", More: true, Help: "the job's number, equal on all ranks"},
	{Name: "total", About: "Cluster.Join.Total", Kind: cli.Integer, Positive: true, Category: catCluster, Arg: "N", More: true, Help: "ranks of the job"},
	{Name: "node", About: "Cluster.Join.Rank", Kind: cli.Integer, Category: catCluster, Arg: "N", More: true, Help: "this rank, from 0"},
	{Name: "spare", Kind: cli.Boolean, Category: catCluster, More: true, Help: "instead of --node: replace a lost rank"},
	{Name: "shard", Kind: cli.Text, Category: catCluster, Arg: "HOW", Choices: []string{"bytes", "lines"}, Help: "divide one input: contiguous parts, or lines"},
	{Name: "run_id", Sets: "Cluster.Join.Job.RunKey", Kind: cli.Text, Category: catCluster, Arg: "NAME", More: true, Help: "name of the run, under which the server remembers its end"},
	{Name: "generation", Sets: "Cluster.Join.Generation", Kind: cli.Integer, Max: 1<<32 - 1, Category: catCluster, Arg: "N", Def: "0", More: true, Help: "restarts of the whole run so far; ranks of earlier ones are refused"},
	{Name: "run_dir", About: "Cluster.RunDir", Kind: cli.Text, Category: catCluster, Arg: "DIR", More: true, Help: "keep the delivered files in DIR/NAME too, for ranks that start late (_gvw beside -f with --run_id and --on_loss wait or shrink); - is nowhere"},
	{Name: "heartbeat", Sets: "Cluster.Join.Heartbeat", Kind: cli.Duration, Category: catCluster, Arg: "T", Def: "1s", More: true, Help: "time between heartbeats"},
	{Name: "lost_after", Sets: "Cluster.Join.LostAfter", Kind: cli.Duration, Category: catCluster, Arg: "T", Def: "10s", More: true, Help: "silence after which a rank is lost"},
	{Name: "on_loss", Sets: "Cluster.Join.OnLoss", Read: lossPolicy, Kind: cli.Text, Category: catCluster, Arg: "HOW", Choices: onLossNames, Def: "abort", More: true, Help: "loss policy: end, wait for another attempt (gvw run), or continue; grow (--malt) takes it later"},
	{Name: "replace_timeout", Sets: "Cluster.Join.ReplaceTimeout", Kind: cli.Duration, Category: catCluster, Arg: "T", Def: "10m", More: true, Help: "time for another attempt of a lost rank to join"},
	{Name: "slow_factor", About: "Cluster.Join.SlowFactor", Kind: cli.Float, Category: catCluster, Arg: "X", Def: "2", More: true, Help: "a rank this many times slower than the others yields to a standby; 0: never"},
	{Name: "server_timeout", Sets: "Cluster.Join.ServerTimeout", Kind: cli.Duration, Category: catCluster, Arg: "T", Def: "10m", More: true, Help: "time without the server after which a rank gives up"},
	{Name: "stall_timeout", Sets: "Cluster.Join.Stall", Kind: cli.Duration, Category: catCluster, Arg: "T", Def: "1m", More: true, Help: "time without a byte between two ranks in a collective, after which the link is broken"},
	{Name: "file_timeout", Kind: cli.Duration, Category: catCluster, Arg: "T", Def: "2m", More: true, Help: "time for one call to a file system, after which a rank gives up"},
	{Name: "start_timeout", Sets: "Cluster.Join.StartTimeout", Kind: cli.Duration, Category: catCluster, Arg: "T", Def: "10m", More: true, Help: "time for all ranks to join"},
	{Name: "elastic", Sets: "Cluster.Join.Elastic", Kind: cli.Boolean, Category: catCluster, More: true, Help: "start after --start_timeout without the ranks that have not joined"},
	{Name: "checkpoint", About: "Cluster.Join.Checkpoints", Kind: cli.Text, Category: catCluster, Arg: "PATH", More: true, Help: "rank 0 keeps the state in PATH.r*, for a job whose ranks are all lost; a daemon keeps its model in PATH"},
	{Name: "checkpoint_every", About: "Cluster.Join.CheckpointEvery", Kind: cli.Integer, Positive: true, Category: catCluster, Arg: "N", Def: "1", More: true, Help: "passes between two checkpoints; with --daemon: most examples without one (10000)"},
	{Name: "checkpoint_interval", Kind: cli.Duration, Positive: true, Category: catCluster, Arg: "T", Def: "30s", More: true, Help: "with --daemon: most time between learning and checkpoint"},
	{Name: "resume", Kind: cli.Boolean, Category: catCluster, More: true, Help: "continue from the newest checkpoint of another run"},
	{Name: "bind", About: "Cluster.Join.Listen", Kind: cli.Text, Category: catCluster, Arg: "HOST", More: true, Help: "listen on this address, name, or network like 10.0.0.0/8"},
	{Name: "advertise", Sets: "Cluster.Join.Advertise", Kind: cli.Text, Category: catCluster, Arg: "HOST", More: true, Help: "address that other ranks connect to, likewise"},
	{Name: "port_range", Kind: cli.Text, Category: catCluster, Arg: "A-B", More: true, Help: "listen on the first free port of these"},
	{Name: "schedule", Sets: "Cluster.Join.Schedule", Read: scheduleName, Kind: cli.Text, Category: catCluster, Arg: "S", Def: "auto", Choices: scheduleNames(), More: true, Help: "schedule of the sums: the same on all ranks"},
	{Name: "checksum", Sets: "Cluster.Join.NoChecksum", Read: isOff, Kind: cli.Text, Category: catCluster, Arg: "C", Def: "on", Choices: []string{"on", "off"}, More: true, Help: "checksum of all data between ranks"},
	{Name: "shm", Sets: "Cluster.Join.NoSharedMemory", Read: isOff, Kind: cli.Text, Category: catCluster, Arg: "S", Def: "on", Choices: []string{"on", "off"}, More: true, Help: "shared memory, for ranks of one machine"},
	{Name: "transport", Sets: "Cluster.Join.Transport", Read: transportName, Kind: cli.Text, Category: catCluster, Arg: "T", Def: "tcp", Choices: []string{"tcp", "verbs", "auto"}, More: true, Help: "between machines: tcp, RDMA verbs, or auto: verbs if all ranks can"},
	{Name: "verbs_device", Sets: "Cluster.Join.VerbsDevice", Kind: cli.Text, Category: catCluster, Arg: "D", Def: "auto", More: true, Help: "this rank's RDMA device: name, name:port, or an address of it"},
	{Name: "timeline", About: "Cluster.Join.Timeline", Kind: cli.Text, Category: catCluster, Arg: "FILE", More: true, Help: "write what this rank does over time, for Perfetto; gvw run: what all ranks do"},
	{Name: "verbs_memory", Sets: "Malt.VerbsMemory", Read: mebibytes64, Kind: cli.Integer, Positive: true, Max: 1 << 30, Category: catCluster, Arg: "MIB", More: true, Help: "with --malt and RDMA: registered memory of a rank at most, in MiB [no limit]"},
	{Name: "trace_dir", Sets: "Cluster.Join.TraceDir", Kind: cli.Text, Category: catCluster, Arg: "DIR", More: true, Help: "folder for execution traces of ranks that wait long"},
}, credentialFlags(catCluster), guardFlags, []*cli.Spec{
	{Name: "aggregate", Sets: "Average.Aggregate", Kind: cli.Text, Category: catUpdate, Arg: "WHAT", Choices: []string{"model", "gradient"}, More: true, Help: "average the models of all ranks at --average_every, or step along the sum of their gradients"},
	{Name: "batch", Sets: "Average.Batch", Read: averageBatch, Kind: cli.Text, Category: catUpdate, Arg: "N|X", More: true, Help: "examples, or fraction, or all, of each rank for a step of --aggregate [model 1, gradient 0.01]"},
	{Name: "average_every", Sets: "Average.Every", Read: averageEvery, Kind: cli.Text, Category: catUpdate, Arg: "N|X", Def: "pass", More: true, Help: "with --aggregate model: average after each pass, after N examples or a fraction X of each rank, or at random:P with control variates"},
	{Name: "malt", Sets: "Malt.Graph", Read: maltGraph, Kind: cli.Text, Category: catUpdate, Arg: "GRAPH", More: true, Help: "asynchronous training: exchange weights during passes, along a graph: " + graphNames},
	{Name: "sync", Sets: "Malt.Sync", Read: maltSync, Kind: cli.Text, Category: catUpdate, Arg: "MODE", Def: "asp", More: true, Help: "with --malt: wait for no rank (asp), all (bsp), those S rounds behind (ssp:S), or neighbours (notify_ack)"},
	{Name: "cb_size", Sets: "Malt.Every", Kind: cli.Integer, Positive: true, Category: catUpdate, Arg: "K", Def: "1000", More: true, Help: "with --malt: examples that a rank learns from between two exchanges"},
	{Name: "malt_send", Sets: "Malt.Send", Read: maltSend, Kind: cli.Text, Category: catUpdate, Arg: "WHAT", Def: "models", More: true, Help: "with --malt: models, deltas, gradients, or deltas:M with models every M-th time"},
	{Name: "outer_rate", Sets: "Outer.Rate", Kind: cli.Float, Positive: true, Category: catUpdate, Arg: "X", Def: "1", More: true, Help: "with --aggregate model or --malt: length of the step to the mean of the models"},
	{Name: "outer_momentum", Sets: "Outer.Momentum", Read: outerMomentum, Kind: cli.Float, Category: catUpdate, Arg: "X", Def: "0", More: true, Help: "with --aggregate model or --malt: Nesterov momentum of these steps"},
	{Name: "max_delay", Sets: "Malt.MaxDelay", Kind: cli.Integer, Positive: true, Max: 1 << 30, Category: catUpdate, Arg: "D", More: true, Help: "with --malt: drop updates that are more than D exchanges late, and let late deltas count less"},
	{Name: "malt_compress", Sets: "Malt.Compress", Read: maltCompress, Kind: cli.Text, Category: catUpdate, Arg: "HOW", More: true, Help: "with --malt and --sgd: f16, q8, or top:K, the K largest values"},
}, learnerFlags(), []*cli.Spec{
	{Name: "dry_run", Kind: cli.Boolean, Category: catOther, More: true, Help: "print what a run would read, allocate and send, and end"},
	{Name: "help", Short: "h", Kind: cli.Boolean, Category: catOther, Help: "this page; --help all for every option"},
	{Name: "version", Kind: cli.Boolean, Category: catOther, More: true, Help: "the version"},
})

// Run are the options of `gvw run`, before the "--".
var Run = slices.Concat(Launch, Shared)

// Shared are the learner's options that may also precede the "--": those that concern
// the job as a whole and not a single rank.
var Shared = append(clusterFlags(slices.Concat(LauncherSays, []string{
	"advertise", "secret_file", "encrypt", "tls_cert", "tls_key", "tls_ca", "allow_vw", "allow",
})...), Learn[slices.IndexFunc(Learn, func(s *cli.Spec) bool { return s.Name == "record" })])

// Launch are the options of gvw run that the learner does not have.
var Launch = []*cli.Spec{
	{Name: "workers", Short: "n", Kind: cli.Integer, Positive: true, Max: 4096, Category: catRun, Arg: "N", Help: "worker processes on this machine"},
	{Name: "shard", Kind: cli.Text, Category: catRun, Arg: "HOW", Choices: []string{"bytes", "lines"}, Def: "bytes", Help: "contiguous parts, or line n to rank (n-1) mod N"},
	{Name: "log_dir", Kind: cli.Text, Category: catRun, Arg: "DIR", Help: "folder for one log per rank; if left out, a temporary one, kept if a worker fails"},
	{Name: "max_restarts", Kind: cli.Integer, Max: 1000, Category: catRun, Arg: "N", Def: "3", Help: "restarts of a worker that dies"},
	{Name: "spares", Kind: cli.Integer, Max: 256, Category: catRun, Arg: "N", Def: "0", Help: "spare processes, which replace lost workers"},
	{Name: "port", Kind: cli.Integer, Max: 65535, Category: catRun, Arg: "PORT", Help: "the server's port; a free one if left out"},
	{Name: "secret_file", Kind: cli.Text, Category: catRun, Arg: "FILE", Help: "the server's secret, for gvw jobs; generated if left out"},
	{Name: "http", Kind: cli.Text, Category: catRun, Arg: "ADDR", Implied: "127.0.0.1:0", Help: "serve a page that shows the job, at HOST:PORT; without a host on the loopback interface, without a port on a free one"},
	{Name: "http_token_file", Kind: cli.Text, Category: catRun, Arg: "FILE", Help: "token for the page, for programs and further browsers; if left out, only the printed link opens the page"},
	{Name: "http_control", Kind: cli.Boolean, Category: catRun, Help: "let the page cancel the job and kill workers"},
	{Name: "help", Short: "h", Kind: cli.Boolean, Category: catOther, Help: "this page"},
}
