// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/hdfsio/hdfs"
)

// Categories, in the order of help.
const (
	catInput   = "Input"
	catFeature = "Features"
	catModel   = "Model"
	catUpdate  = "Learning"
	catBatch   = "L-BFGS and hybrid"
	catOutput  = "Output"
	catCluster = "Cluster"
	catRun     = "Local cluster"
	catOther   = "Other"
)

// learnFlags are the options of the learner.
var learnFlags = slices.Concat([]*spec{
	{name: "data", short: "d", about: "Data.Inputs", kind: text, category: catInput, arg: "FILE", repeat: true, help: "examples: a file, 'pattern*' or -; repeatable"},
	{name: "args", kind: text, category: catInput, arg: "FILE", more: true, help: "train a model for each line of FILE, which has its options, on the data of the first line"},
	{name: "passes", sets: "Passes", kind: integer, category: catInput, arg: "N", def: "1", help: "passes; more than one needs a cache"},
	{name: "cache", short: "c", kind: boolean, category: catInput, help: "keep the parsed examples in DATA.cache"},
	{name: "cache_file", about: "Data.Cache", kind: list, single: true, category: catInput, arg: "FILE", help: "keep the parsed examples in FILE"},
	{name: "kill_cache", short: "k", sets: "Data.KillCache", kind: boolean, category: catInput, help: "make the cache anew, even if it is valid"},
	{name: "testonly", short: "t", sets: "TestOnly", kind: boolean, category: catInput, help: "predict only, learn nothing"},
	{name: "examples", sets: "Data.Examples", kind: integer, positive: true, unset: "-1", category: catInput, arg: "N", more: true, help: "use only the first N examples"},
	{name: "initial_pass_length", sets: "Data.PassLength", kind: integer, positive: true, unset: "-1", category: catInput, arg: "N", more: true, help: "end the first pass after N examples"},
	{name: "holdout_off", sets: "Holdout.Off", kind: boolean, category: catInput, more: true, help: "learn from every example in several passes"},
	{name: "holdout_period", sets: "Holdout.Period", kind: integer, positive: true, category: catInput, arg: "N", def: "10", more: true, help: "hold out every N-th example"},
	{name: "holdout_after", sets: "Holdout.After", kind: integer, positive: true, unset: "0", category: catInput, arg: "N", more: true, help: "hold out all examples after the N-th"},
	{name: "early_terminate", sets: "Holdout.EarlyTerminate", kind: integer, positive: true, category: catInput, arg: "N", def: "3", more: true, help: "passes without improvement before the end"},

	{name: "shuffle", sets: "Data.Shuffle", kind: boolean, category: catInput, more: true, help: "read the examples in a random order from pass 2 on"},
	{name: "shuffle_memory", sets: "Data.ShuffleMemory", read: mebibytes, kind: integer, positive: true, category: catInput, arg: "MiB", def: "512", more: true, help: "what is shuffled as a whole"},
	{name: "classweight", alias: "class_weights", sets: "Data.ClassWeights", read: classWeights, kind: list, category: catInput, arg: "CLASS:W", more: true, help: "weights of classes, like 1:3,-1:0.5; also --class_weights"},
	{name: "valid", about: "Holdout.Valid", kind: text, category: catInput, arg: "FILE", repeat: true, more: true, help: "stop when the loss on FILE no longer falls"},

	{name: "json", sets: "Data.Format", read: sameWord, kind: boolean, category: catInput, more: true, help: "examples are JSON objects, one a line"},
	{name: "csv", sets: "Data.Format", read: sameWord, kind: boolean, category: catInput, more: true, help: "examples are rows of CSV"},
	{name: "csv_separator", sets: "Data.CSV.Separator", kind: text, category: catInput, arg: "C", def: ",", more: true, help: "character between cells; \\t is a tab"},
	{name: "csv_no_file_header", sets: "Data.CSV.NoFileHeader", kind: boolean, category: catInput, more: true, help: "the first line of a file is a row"},
	{name: "csv_header", sets: "Data.CSV.Header", kind: text, category: catInput, arg: "NAMES", more: true, help: "names of the columns, instead of the file's: _label,a|x,y"},
	{name: "csv_ns_value", sets: "Data.CSV.NamespaceValues", kind: text, category: catInput, arg: "LIST", more: true, help: "factors on namespaces: a:0.5,:8"},
	{name: "label", sets: "Data.CSV.Label", kind: text, category: catInput, arg: "COLUMN", more: true, help: "with --csv: name or number of the column with the labels"},
	{name: "libsvm", sets: "Data.Format", read: sameWord, kind: boolean, category: catInput, more: true, help: "examples are lines of LIBSVM's: label index:value .."},
	{name: "no_stdin", kind: boolean, category: catInput, more: true, help: "without -d and a cache read no examples, instead of stdin"},
	{name: "strict_parse", sets: "Data.Strict", kind: boolean, category: catInput, more: true, help: "a malformed line is an error"},
	{name: "max_line", sets: "Data.MaxLine", kind: integer, positive: true, category: catInput, arg: "BYTES", def: "67108864", more: true, help: "longest line"},

	{name: "hdfs_client", kind: text, category: catInput, arg: "WAY", choices: hdfs.Clients, def: "auto", more: true, help: "to hdfs:// files; auto takes the first that works"},
	{name: "hdfs_keytab", kind: text, category: catInput, arg: "FILE", more: true, help: "Kerberos keys for hdfs://, instead of kinit's ticket"},
	{name: "hdfs_principal", kind: text, category: catInput, arg: "NAME@REALM", more: true, help: "whose keys of --hdfs_keytab to use"},

	{name: "bit_precision", short: "b", sets: "Features.Bits", kind: integer, positive: true, category: catFeature, arg: "B", def: "18", help: "2^B weights"},
	{name: "quadratic", short: "q", sets: "Features.Namespaces.Quadratic", kind: list, category: catFeature, arg: "AB", help: "cross namespaces A and B; ':' is any"},
	{name: "cubic", sets: "Features.Namespaces.Cubic", kind: list, category: catFeature, arg: "ABC", more: true, help: "cross three namespaces"},
	{name: "interactions", sets: "Features.Namespaces.Interactions", kind: list, category: catFeature, arg: "AB..", more: true, help: "cross two or more namespaces"},
	{name: "permutations", sets: "Features.Namespaces.Permutations", kind: boolean, category: catFeature, more: true, help: "cross a namespace with itself in every order"},
	{name: "leave_duplicate_interactions", sets: "Features.Namespaces.LeaveDuplicates", kind: boolean, category: catFeature, more: true, help: "keep interactions of the same namespaces"},
	{name: "ignore", sets: "Features.Namespaces.Ignore", kind: list, category: catFeature, arg: "A", more: true, help: "drop namespaces that begin with A"},
	{name: "ignore_linear", sets: "Features.Namespaces.IgnoreLinear", kind: list, category: catFeature, arg: "A", more: true, help: "use namespaces that begin with A in interactions alone"},
	{name: "keep", sets: "Features.Namespaces.Keep", kind: list, category: catFeature, arg: "A", more: true, help: "drop all namespaces but those that begin with A"},
	{name: "redefine", sets: "Features.Namespaces.Redefine", kind: list, category: catFeature, arg: "N:=S", more: true, help: "count namespaces that begin with one of S as N; ':' is any"},
	{name: "ngram", sets: "Features.Namespaces.NGrams", kind: list, category: catFeature, arg: "N|AN", more: true, help: "n-grams up to N, in all namespaces or those that begin with A"},
	{name: "skips", sets: "Features.Namespaces.Skips", kind: list, category: catFeature, arg: "N|AN", more: true, help: "features that n-grams may skip"},
	{name: "feature_limit", sets: "Features.Namespaces.Limits", read: featureLimits, kind: list, category: catFeature, arg: "N|AN", more: true, help: "different features of a namespace, at most"},
	{name: "affix", sets: "Features.Namespaces.Affix", kind: text, category: catFeature, arg: "LIST", more: true, help: "prefixes and suffixes of names: +2a,-3b"},
	{name: "spelling", sets: "Features.Namespaces.Spelling", kind: list, category: catFeature, arg: "A", more: true, help: "kinds of letters of the names in A; _ is the default namespace"},
	{name: "dictionary", sets: "Features.Namespaces.Dictionary", kind: list, category: catFeature, arg: "[A:]FILE", more: true, help: "features to add to those whose names are words of FILE, in A or the default namespace"},
	{name: "dictionary_path", about: "Features.DictionaryPath", kind: list, category: catFeature, arg: "DIR", more: true, help: "folders in which dictionaries are searched"},
	{name: "sort_features", sets: "Features.Namespaces.SortFeatures", kind: boolean, category: catFeature, more: true, help: "sort the features of a namespace, and drop repeated ones"},
	{name: "chain_hash", sets: "Features.Namespaces.ChainHash", kind: boolean, category: catFeature, more: true, help: "hash text values in JSON as in text"},
	{name: "constant", short: "C", sets: "Features.Constant", kind: float, unset: "0", category: catFeature, arg: "X", def: "0", more: true, help: "weight of the constant feature at the start"},
	{name: "noconstant", sets: "Features.NoConstant", kind: boolean, category: catFeature, more: true, help: "no constant feature"},
	{name: "hash", sets: "Features.Hash", kind: text, category: catFeature, arg: "HOW", choices: []string{"all", "strings"}, def: "strings", more: true, help: "how to hash names; all: numbers too"},
	{name: "hash_seed", sets: "Features.HashSeed", kind: integer, max: 1<<32 - 1, wraps: true, category: catFeature, arg: "N", def: "0", more: true, help: "seed of the hash"},

	{name: "final_regressor", short: "f", sets: "Model.Final", kind: text, category: catModel, arg: "FILE", help: "write the model"},
	{name: "initial_regressor", short: "i", sets: "Model.Initial", kind: list, single: true, category: catModel, arg: "FILE", help: "start from a model"},
	{name: "readable_model", sets: "Model.Readable", kind: text, category: catModel, arg: "FILE", more: true, help: "write the weights as text"},
	{name: "invert_hash", sets: "Model.InvertHash", kind: text, category: catModel, arg: "FILE", more: true, help: "write the weights as text, with names"},
	{name: "hexfloat_weights", sets: "Model.HexWeights", kind: boolean, category: catModel, more: true, help: "write the weights of text models in hexadecimal"},
	{name: "id", sets: "Model.ID", kind: text, category: catModel, arg: "TEXT", more: true, help: "a text to know the model by, kept in it"},
	{name: "save_per_pass", sets: "Model.SavePerPass", kind: boolean, category: catModel, more: true, help: "also write MODEL.N after pass N"},
	{name: "preserve_performance_counters", sets: "Model.PreserveCounters", kind: boolean, category: catModel, more: true, help: "counters and losses go on from those of -i"},
	{name: "predict_only_model", sets: "Model.PredictOnly", kind: boolean, category: catModel, more: true, help: "leave out what training would need to go on"},

	{name: "loss_function", sets: "Loss.Function", kind: text, category: catUpdate, arg: "LOSS", def: "squared", help: "squared, logistic, hinge and others"},
	{name: "quantile_tau", sets: "Loss.QuantileTau", kind: float, positive: true, category: catUpdate, arg: "X", def: "0.5", more: true, help: "share of labels below the prediction, for the quantile loss"},
	{name: "expectile_q", sets: "Loss.ExpectileQ", kind: float, positive: true, category: catUpdate, arg: "X", more: true, help: "weight of predictions above the label, for the expectile loss"},
	{name: "logistic_min", sets: "Loss.LogisticMin", kind: float, category: catUpdate, arg: "X", def: "-1", more: true, help: "label of the negative class, for the logistic loss"},
	{name: "logistic_max", sets: "Loss.LogisticMax", kind: float, category: catUpdate, arg: "X", def: "1", more: true, help: "label of the positive class, for the logistic loss"},
	{name: "min_prediction", sets: "Loss.MinPrediction", kind: float, category: catUpdate, arg: "X", more: true, help: "smallest prediction; the smallest label seen if not given"},
	{name: "max_prediction", sets: "Loss.MaxPrediction", kind: float, category: catUpdate, arg: "X", more: true, help: "largest prediction; the largest label seen if not given"},
	{name: "learning_rate", short: "l", sets: "SGD.LearningRate", kind: float, category: catUpdate, arg: "X", def: "0.5", help: "learning rate"},
	{name: "power_t", sets: "SGD.PowerT", kind: float, category: catUpdate, arg: "X", def: "0.5", more: true, help: "exponent of the learning rate's decay"},
	{name: "initial_t", sets: "SGD.InitialT", kind: float, category: catUpdate, arg: "X", more: true, help: "start of the decay"},
	{name: "decay_learning_rate", sets: "SGD.DecayLearningRate", kind: float, positive: true, category: catUpdate, arg: "X", def: "1", more: true, help: "factor between passes"},
	{name: "l1", sets: "Reg.L1", read: notNegative, kind: float, unset: "0", category: catUpdate, arg: "X", def: "0", more: true, help: "L1 regularisation of SGD"},
	{name: "l2", sets: "Reg.L2", read: notNegative, kind: float, unset: "0", category: catUpdate, arg: "X", def: "0", help: "L2 regularisation"},
	{name: "adax", sets: "SGD.Adax", kind: boolean, category: catUpdate, more: true, help: "with --adaptive: by x² instead of g²·x²"},
	{name: "sparse_l2", sets: "Reg.SparseL2", kind: float, category: catUpdate, arg: "X", def: "0", more: true, help: "L2 regularisation of the weights of the example at hand"},
	{name: "l1_state", sets: "Reg.L1State", kind: float, category: catUpdate, arg: "X", def: "0", more: true, help: "what L1 has taken from every weight before the start"},
	{name: "l2_state", sets: "Reg.L2State", kind: float, category: catUpdate, arg: "X", def: "1", more: true, help: "the factor that L2 has put on every weight before the start"},
	{name: "feature_mask", sets: "Model.FeatureMask", kind: text, category: catUpdate, arg: "FILE", more: true, help: "train only what is not 0 in this model, from there"},
	{name: "initial_weight", sets: "Model.Start.Weight", kind: float, unset: "0", category: catUpdate, arg: "X", def: "0", more: true, help: "every weight at the start"},
	{name: "random_weights", sets: "Model.Start.Random", kind: boolean, category: catUpdate, more: true, help: "start weights from -0.5 to 0.5"},
	{name: "normal_weights", sets: "Model.Start.Normal", kind: boolean, category: catUpdate, more: true, help: "start weights of the normal distribution"},
	{name: "truncated_normal_weights", sets: "Model.Start.Truncated", kind: boolean, category: catUpdate, more: true, help: "the same, within two standard deviations"},
	{name: "random_seed", sets: "Model.Start.Seed,Data.ShuffleSeed", kind: integer, max: 1<<64 - 1, wraps: true, category: catUpdate, arg: "N", def: "0", more: true, help: "seed of all that is drawn"},
	{name: "sgd", sets: "SGD.Plain", kind: boolean, category: catUpdate, more: true, help: "plain SGD: none of the next three by itself"},
	{name: "adaptive", sets: "SGD.Adaptive", kind: boolean, category: catUpdate, more: true, help: "a learning rate for each feature"},
	{name: "normalized", sets: "SGD.Normalized", kind: boolean, category: catUpdate, more: true, help: "updates that do not depend on a feature's scale"},
	{name: "invariant", sets: "SGD.Invariant", kind: boolean, category: catUpdate, more: true, help: "updates that respect importance weights"},

	{name: "ftrl", sets: "FTRL.Rule", read: ftrlRule, kind: boolean, category: catUpdate, more: true, help: "follow the proximally regularised leader; one process"},
	{name: "pistol", sets: "FTRL.Rule", read: ftrlRule, kind: boolean, category: catUpdate, more: true, help: "PiSTOL, which needs no learning rate; one process"},
	{name: "coin", sets: "FTRL.Rule", read: ftrlRule, kind: boolean, category: catUpdate, more: true, help: "coin betting, which needs no learning rate; one process"},
	{name: "ftrl_alpha", sets: "FTRL.Alpha", kind: float, category: catUpdate, arg: "X", more: true, help: "α of the three: 0.5, 1 and 4 if not given"},
	{name: "ftrl_beta", sets: "FTRL.Beta", kind: float, category: catUpdate, arg: "X", more: true, help: "β of the three: 1, 0.5 and 1 if not given"},
	{name: "oaa", sets: "OAA.Classes", kind: integer, positive: true, category: catUpdate, arg: "K", help: "K classes, one against all, for labels 1 to K"},
	{name: "probabilities", sets: "OAA.Probabilities", kind: boolean, category: catUpdate, more: true, help: "with --oaa: predict every class's probability"},
	{name: "scores", sets: "OAA.Scores", kind: boolean, category: catUpdate, more: true, help: "with --oaa: predict every class's score"},
	{name: "indexing", sets: "OAA.Indexing", read: number, kind: text, category: catUpdate, arg: "N", choices: []string{"0", "1"}, more: true, help: "with --oaa: the first label; by the data if not given"},
	{name: "named_labels", sets: "OAA.NamedLabels", kind: text, category: catUpdate, arg: "A,B,C", more: true, help: "with --oaa: labels are these names"},
	{name: "oaa_subsample", sets: "OAA.Subsample", kind: integer, positive: true, unset: "0", category: catUpdate, arg: "N", more: true, help: "with --oaa: only N of the other classes learn from an example"},

	{name: "bfgs", sets: "Batch.BFGS", kind: boolean, category: catBatch, help: "learn by L-BFGS, over --passes"},
	{name: "conjugate_gradient", sets: "Batch.ConjugateGradient", kind: boolean, category: catBatch, more: true, help: "learn by conjugate gradients, over --passes"},
	{name: "hybrid", sets: "Hybrid", read: hybridPasses, kind: text, category: catBatch, arg: "P:Q", help: "P passes of SGD, then up to Q passes of L-BFGS"},
	{name: "mem", sets: "Batch.Mem", kind: integer, category: catBatch, arg: "M", def: "15", more: true, help: "pairs that L-BFGS remembers; 0: conjugate gradients"},
	{name: "hessian_on", sets: "Batch.HessianOn", kind: boolean, category: catBatch, more: true, help: "find every step by a curvature pass"},
	{name: "termination", sets: "Batch.Termination", kind: float, category: catBatch, arg: "X", def: "0.001", more: true, help: "least relative decrease of the loss"},
	{name: "no_bias_regularization", sets: "Reg.NoBias", kind: boolean, category: catBatch, more: true, help: "--l2 spares the constant"},
	{name: "input_feature_regularizer", sets: "Reg.Input", kind: text, category: catBatch, arg: "FILE", more: true, help: "start from these weights, and regularise each by its own λ"},
	{name: "output_feature_regularizer_binary", sets: "Reg.Output", kind: text, category: catBatch, arg: "FILE", empty: true, more: true, help: "write such a file, from the Hessian at the end"},
	{name: "output_feature_regularizer_text", sets: "Reg.OutputText", kind: text, category: catBatch, arg: "FILE", empty: true, more: true, help: "the same as text"},
	{name: "bfgs_semantics", sets: "Batch.Semantics", read: bfgsSemantics, kind: text, category: catBatch, arg: "S", choices: []string{"vw7", "vw9"}, def: "vw7", more: true, help: "vw9: the preconditioner of vw 8.2 and later, for jobs with its workers"},
	{name: "sgd_l2", sets: "Reg.SGDL2", kind: float, category: catBatch, arg: "X", def: "0", more: true, help: "L2 regularisation of the hybrid's SGD"},

	{name: "predictions", short: "p", sets: "Output.Predictions", kind: text, category: catOutput, arg: "FILE", help: "write predictions; stdout is one place"},
	{name: "raw_predictions", short: "r", sets: "Output.RawPredictions", kind: text, category: catOutput, arg: "FILE", more: true, help: "write predictions before the link"},
	{name: "link", sets: "Loss.Link", kind: text, category: catOutput, arg: "LINK", choices: []string{"identity", "logistic", "glf1", "poisson"}, def: "identity", help: "logistic: probabilities"},
	{name: "binary", sets: "Loss.Binary", kind: boolean, category: catOutput, more: true, help: "predict -1 or 1"},
	{name: "progress", short: "P", sets: "Diagnostics.Progress", kind: text, category: catOutput, arg: "N|X", def: "2.0", help: "row every N, or X.0 times, examples"},
	{name: "metrics", sets: "Metrics.Measures", read: measures, kind: text, category: catOutput, arg: "LIST", more: true, help: "measure logloss,accuracy,auc,auprc,rmse,calibration"},
	{name: "metrics_file", sets: "Metrics.File", kind: text, category: catOutput, arg: "FILE", more: true, help: "write the measures as JSON"},
	{name: "extra_metrics", sets: "Metrics.Extra", kind: text, category: catOutput, arg: "FILE", more: true, help: "write counts of calls as JSON, as vw does"},
	{name: "log_json", about: "Metrics.PassLog", kind: text, category: catOutput, arg: "FILE", more: true, help: "write one line of JSON a pass"},
	{name: "audit", short: "a", about: "Output.Audit", kind: boolean, category: catOutput, more: true, help: "write each example's features and weights to stdout"},
	{name: "quiet", sets: "Diagnostics.Quiet", kind: boolean, category: catOutput, more: true, help: "errors only"},
	{name: "driver_output_off", kind: boolean, category: catOutput, more: true, help: "no table and no summary"},
	{name: "driver_output", about: "Diagnostics.Writer", kind: text, category: catOutput, arg: "STREAM", choices: []string{"stderr", "stdout"}, def: "stderr", more: true, help: "stream of the table and the summary"},
	{name: "log_level", kind: text, category: catOutput, arg: "LEVEL", choices: []string{"critical", "error", "info", "off", "warn"}, def: "info", more: true, help: "least level of log lines and notes"},
	{name: "dont_output_best_constant", sets: "Diagnostics.NoBestConstant", kind: boolean, category: catOutput, more: true, help: "leave the best constant out of the summary"},
	{name: "mode", about: "Data.CacheMode", kind: text, category: catOutput, arg: "MODE", def: "600", more: true, help: "of files that are made, octal: 644 lets all read them"},

	{name: "span_server", about: "Cluster.Join.Server", kind: text, category: catCluster, arg: "HOST", help: "host of the spanning_tree server"},
	{name: "span_server_port", kind: integer, max: 65535, category: catCluster, arg: "PORT", def: "26543", more: true, help: "its port"},
	{name: "unique_id", sets: "Cluster.Join.Job.UniqueID", kind: integer, max: 1<<64 - 1, category: catCluster, arg: "N", more: true, help: "the job's number, equal on all ranks"},
	{name: "total", about: "Cluster.Join.Total", kind: integer, positive: true, category: catCluster, arg: "N", more: true, help: "ranks of the job"},
	{name: "node", about: "Cluster.Join.Rank", kind: integer, category: catCluster, arg: "N", more: true, help: "this rank, from 0"},
	{name: "spare", kind: boolean, category: catCluster, more: true, help: "instead of --node: take the place of a rank that is lost"},
	{name: "shard", kind: text, category: catCluster, arg: "HOW", choices: []string{"bytes", "lines"}, help: "share out one input: contiguous parts, or lines"},
	{name: "run_id", sets: "Cluster.Join.Job.RunKey", kind: text, category: catCluster, arg: "NAME", more: true, help: "the run's name: its end is remembered under it"},
	{name: "generation", sets: "Cluster.Join.Generation", kind: integer, max: 1<<32 - 1, category: catCluster, arg: "N", def: "0", more: true, help: "counts restarts of the whole run: a higher one ends a lower one"},
	{name: "run_dir", about: "Cluster.RunDir", kind: text, category: catCluster, arg: "DIR", more: true, help: "what the run delivers stays in DIR/NAME too, for ranks that come late (_gvw beside -f with --run_id and --on_loss wait or shrink); - is nowhere"},
	{name: "heartbeat", sets: "Cluster.Join.Heartbeat", kind: duration, category: catCluster, arg: "T", def: "1s", more: true, help: "time between signs of life"},
	{name: "lost_after", sets: "Cluster.Join.LostAfter", kind: duration, category: catCluster, arg: "T", def: "10s", more: true, help: "silence after which a rank is lost"},
	{name: "on_loss", sets: "Cluster.Join.OnLoss", read: lossPolicy, kind: text, category: catCluster, arg: "HOW", choices: onLossNames, def: "abort", more: true, help: "the loss of a rank: end, wait for another attempt (gvw run), or go on"},
	{name: "replace_timeout", sets: "Cluster.Join.ReplaceTimeout", kind: duration, category: catCluster, arg: "T", def: "10m", more: true, help: "time for another attempt of a lost rank to come"},
	{name: "slow_factor", about: "Cluster.Join.SlowFactor", kind: float, category: catCluster, arg: "X", def: "2", more: true, help: "a rank this many times slower yields to one that stands by; 0: none does"},
	{name: "server_timeout", sets: "Cluster.Join.ServerTimeout", kind: duration, category: catCluster, arg: "T", def: "10m", more: true, help: "time without the server after which a rank gives up"},
	{name: "stall_timeout", sets: "Cluster.Join.Stall", kind: duration, category: catCluster, arg: "T", def: "1m", more: true, help: "time without a byte between two ranks in a sum, after which the way is broken"},
	{name: "file_timeout", kind: duration, category: catCluster, arg: "T", def: "2m", more: true, help: "time for one call to a file system, after which a rank gives up"},
	{name: "start_timeout", sets: "Cluster.Join.StartTimeout", kind: duration, category: catCluster, arg: "T", def: "10m", more: true, help: "time for all ranks to come"},
	{name: "elastic", sets: "Cluster.Join.Elastic", kind: boolean, category: catCluster, more: true, help: "start without ranks that have not come when --start_timeout is over"},
	{name: "checkpoint", about: "Cluster.Join.Checkpoints", kind: text, category: catCluster, arg: "PATH", more: true, help: "rank 0 keeps the state in PATH.r*, to go on from if all are lost"},
	{name: "checkpoint_every", about: "Cluster.Join.CheckpointEvery", kind: integer, positive: true, category: catCluster, arg: "N", def: "1", more: true, help: "passes from one to the next"},
	{name: "resume", kind: boolean, category: catCluster, more: true, help: "go on from the newest checkpoint of another run"},
	{name: "bind", about: "Cluster.Join.Listen", kind: text, category: catCluster, arg: "HOST", more: true, help: "listen there: address, name, or network like 10.0.0.0/8"},
	{name: "advertise", sets: "Cluster.Join.Advertise", kind: text, category: catCluster, arg: "HOST", more: true, help: "what other ranks are told, likewise"},
	{name: "port_range", kind: text, category: catCluster, arg: "A-B", more: true, help: "listen on the first free port of these"},
	{name: "schedule", sets: "Cluster.Join.Schedule", read: scheduleName, kind: text, category: catCluster, arg: "S", def: "auto", choices: scheduleNames(), more: true, help: "who adds what to what: equal on all ranks"},
	{name: "checksum", sets: "Cluster.Join.NoChecksum", read: isOff, kind: text, category: catCluster, arg: "C", def: "on", choices: []string{"on", "off"}, more: true, help: "of all that goes between ranks"},
	{name: "shm", sets: "Cluster.Join.NoSharedMemory", read: isOff, kind: text, category: catCluster, arg: "S", def: "on", choices: []string{"on", "off"}, more: true, help: "shared memory, if all ranks are on one machine"},
	{name: "transport", sets: "Cluster.Join.Transport", read: transportName, kind: text, category: catCluster, arg: "T", def: "tcp", choices: allreduce.TransportNames(), more: true, help: "between machines: tcp, RDMA verbs, or auto: verbs if all ranks can"},
	{name: "verbs_device", sets: "Cluster.Join.VerbsDevice", kind: text, category: catCluster, arg: "D", def: "auto", more: true, help: "this rank's RDMA device: name, name:port, or an address of it"},
	{name: "trace_dir", sets: "Cluster.Join.TraceDir", kind: text, category: catCluster, arg: "DIR", more: true, help: "for execution traces of ranks that wait for long"},
}, credentialFlags(catCluster), guardFlags, []*spec{
	{name: "dry_run", kind: boolean, category: catOther, more: true, help: "say what a run would take, and end"},
	{name: "help", short: "h", kind: boolean, category: catOther, help: "this page; --help all for every option"},
	{name: "version", kind: boolean, category: catOther, more: true, help: "the version"},
})

// runFlags are the options of `gvw run`, before the "--".
var runFlags = slices.Concat(launchFlags, sharedFlags)

// sharedFlags are the learner's options that may stand there too: those that are about
// the job, and not about one rank of it.
var sharedFlags = clusterFlags(slices.Concat(launcherSays, []string{
	"advertise", "secret_file", "encrypt", "tls_cert", "tls_key", "tls_ca", "allow_vw", "allow",
})...)

// launchFlags are those that stand there alone.
var launchFlags = []*spec{
	{name: "workers", short: "n", kind: integer, positive: true, max: 4096, category: catRun, arg: "N", help: "worker processes on this machine"},
	{name: "shard", kind: text, category: catRun, arg: "HOW", choices: []string{"bytes", "lines"}, def: "bytes", help: "contiguous parts, or line n to rank (n-1) mod N"},
	{name: "log_dir", kind: text, category: catRun, arg: "DIR", help: "folder for one log per rank; if left out, a temporary one, kept if a worker fails"},
	{name: "max_restarts", kind: integer, max: 1000, category: catRun, arg: "N", def: "3", help: "new starts of a worker that dies"},
	{name: "spares", kind: integer, max: 256, category: catRun, arg: "N", def: "0", help: "more processes, to take the places of lost workers"},
	{name: "port", kind: integer, max: 65535, category: catRun, arg: "PORT", help: "the server's port; a free one if left out"},
	{name: "secret_file", kind: text, category: catRun, arg: "FILE", help: "the server's secret, for gvw jobs; drawn if left out"},
	{name: "help", short: "h", kind: boolean, category: catOther, help: "this page"},
}
