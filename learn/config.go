// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"context"
	"io"
	"io/fs"
	"log/slog"
	"sync/atomic"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/feature/cache"
	"github.com/gvw-project/gvw/feature/csv"
	"github.com/gvw-project/gvw/internal/merand"
	"github.com/gvw-project/gvw/learn/internal/maltstage"
	"github.com/gvw-project/gvw/learn/internal/namespaces"
	"github.com/gvw-project/gvw/learn/internal/output"
	"github.com/gvw-project/gvw/learn/internal/tally"
	"github.com/gvw-project/gvw/learn/metric"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/ftrl"
	"github.com/gvw-project/gvw/optim/sgd"
	"github.com/gvw-project/gvw/option"
)

// Input is one source of examples. The command opens it (local file, HDFS,
// stdin, decompressed, cut to this rank's shard); the learner only reads text.
type Input struct {
	// Name is what messages call it: a path, or "stdin".
	Name string
	// Identity changes when the content does (path, size, modification time,
	// shard): the cache is rebuilt when it differs. Empty: never cached.
	Identity string
	// Open starts reading at the first line of this rank's part. The end of ctx ends
	// Open and reads that wait for data.
	Open func(context.Context) (io.ReadCloser, error)
	// Header returns the first line of the whole file, at most limit bytes, for formats with
	// headers. own reports that the part itself begins with that line; then line is empty. A
	// nil Header means the same.
	Header func(limit int) (line []byte, own bool, err error)
	// None marks an input that stands for no data. The banner does not count it as a source.
	None bool
}

// Output is a file that appears under its final name only when it is whole.
type Output = output.File

// Namespaces has the options on namespaces.
type Namespaces = namespaces.Options

// ClassWeight is the weight of a label.
type ClassWeight = tally.ClassWeight

// Config configures a run: the data, the learner, and the files that it leaves. The zero
// value of each field has the meaning that its comment gives. [Config.Validate] reports the faults of all
// groups.
type Config struct {
	Data     DataConfig
	Passes   int  // passes over the data, 0 means 1; L-BFGS counts every pass, the curvature pass too
	TestOnly bool // predict only, learn nothing
	Holdout  HoldoutConfig
	Features FeatureConfig

	SGD     SGDConfig
	FTRL    FTRLConfig
	Reg     RegConfig
	Loss    LossConfig
	OAA     OAAConfig
	LDA     LDAConfig
	Learner LearnerConfig
	Batch   BatchConfig
	Hybrid  *Hybrid // SGD followed by L-BFGS; nil: no hybrid
	Malt    MaltConfig
	Average AverageConfig
	Outer   OuterConfig

	Model       ModelConfig
	Output      OutputConfig
	Metrics     MetricsConfig
	Diagnostics DiagnosticsConfig
	Cluster     ClusterConfig

	// CheckMemory is called with the number of bytes before tables of that size are
	// allocated. Its error ends the run. nil: no check.
	CheckMemory func(bytes uint64) error

	given given

	compactFrom uint64 // least bytes of a table for a compact one in its place; 0: compactBytes. Tests set it
}

// given records which settings the caller has given, before withDefaults fills in the
// others.
type given struct {
	known                     bool // the rest is filled in
	bits, loss, link, holdout bool
	seed                      merand.State // Model.Start.Seed, which a loaded model may replace
}

// DataConfig configures the examples and their order.
type DataConfig struct {
	Inputs    []Input     // sources of examples, in order; none: the cache only
	Cache     string      // name of the cache file; empty: no cache
	CacheMode fs.FileMode // permissions of a cache that is made; 0: 0600
	KillCache bool        // rebuild the cache even if it is valid
	// ExampleMemory is the greatest number of bytes of examples that a rank keeps in memory, so that passes after the
	// first over a cache decode nothing. With the format "csr" and no cache, more examples are an error.
	// 0: none are kept; not set: 512 MiB.
	ExampleMemory option.Option[int]
	// CacheCalls returns the calls to the file system that the cache uses; nil: direct calls.
	CacheCalls func(ctx context.Context, name string) cache.Calls

	Examples   int // examples of each pass, in one process; 0: all
	PassLength int // examples after which SGD in one process ends its first pass; 0: all

	Format  string     // "json", "csv", "parquet", "libsvm" or "csr"; empty: vw's text
	CSV     csv.Config // options of the CSV parser
	Strict  bool       // fail on a malformed line; false: warn and recover as vw does
	MaxLine int        // longest line, in bytes; 0: feature.DefaultMaxLine

	// ClassWeights multiply the importance of examples by label, except in the
	// validation set. A label that is missing has weight 1.
	ClassWeights []ClassWeight

	Shuffle       bool   // read the examples in a random order from the second pass on
	ShuffleSeed   uint64 // seed of that order, together with the rank and the pass
	ShuffleMemory int    // limit of the shuffle buffer, in bytes; larger shards are shuffled in pieces. 0: 512 MiB
}

// HoldoutConfig configures the examples that passes measure without learning from them, and the
// end of a run by their loss.
type HoldoutConfig struct {
	Off            bool    // hold nothing out
	Period         int     // hold out every n-th example of runs with several passes; 0: 10, and no holdout set in a hybrid unless another of these fields is set
	After          int     // hold out all examples after the n-th instead; 0: by Period
	EarlyTerminate int     // passes without a smaller loss before the run ends; 0: 3
	Valid          []Input // validation set, measured after each pass, whose loss replaces that of the examples held out; none: no set
}

// FeatureConfig configures the features of examples and their indices.
type FeatureConfig struct {
	Bits       uint                  // log2 of the number of weights, 1 to 32, equal to that of the loaded model; 0: that of the model, or 18
	Hash       string                // "strings" hashes names that are numbers to themselves, "all" does not; empty: as the loaded model, or strings
	HashSeed   option.Option[uint32] // seed of the hash; not set: that of the loaded model, or 0
	NoConstant bool                  // leave the constant feature out
	Constant   float32               // weight of the constant feature at the start
	Namespaces Namespaces

	// DictionaryPath lists the directories in which the files of Namespaces.Dictionary are
	// searched. Model.Open opens them. None: the names are paths.
	DictionaryPath []string
}

// SGDConfig configures the update rule of SGD.
type SGDConfig struct {
	// Plain is SGD without the next three, unless one of them is set as well. If none of the
	// four is set, the rule is adaptive, normalized and invariant.
	Plain      bool
	Adaptive   bool // a learning rate for each weight
	Normalized bool // updates independent of the scale of a feature
	Invariant  bool // updates that respect importance weights
	Adax       bool // adaptive sums of x² instead of g²·x²

	// Hogwild is the number of goroutines that learn at the same time, and update the weights without locks; 0 or 1: one.
	// With more than one, two runs of the same training have different models.
	Hogwild int

	// Threads is the number of replicas of the weights that learn at the same time, each in its own goroutine, from blocks of
	// examples in turns; 0 or 1: one. They are merged after Average.Every. Two runs with the same number have the same model.
	Threads int

	LearningRate      option.Option[float32] // not set: vw's default for the rule
	PowerT            option.Option[float32] // exponent of the learning rate's decay; not set: 0.5
	InitialT          option.Option[float32] // examples before the first, for the decay; not set: vw's default for the rule
	DecayLearningRate float32                // factor on the learning rate after each pass; 0: 1
}

// FTRLConfig configures the learners of the FTRL family, which run in one process.
type FTRLConfig struct {
	Rule        ftrl.Rule              // learner; ftrl.None: SGD
	Alpha, Beta option.Option[float32] // α and β; not set: vw's defaults for the rule
	FreeGrad    ftrl.FreeGradConfig    // numbers of ftrl.FreeGrad; a Wealth of 0 is 1
}

// RegConfig configures the regularisation of weights.
type RegConfig struct {
	L1       float64 // L1 of SGD (gravity); L-BFGS has none
	L2       float64 // λ of SGD or L-BFGS, and of the L-BFGS phase of a hybrid
	SGDL2    float64 // λ of the SGD phase of a hybrid
	SparseL2 float32 // λ on the weights of the current example, in SGD
	NoBias   bool    // do not regularise the constant

	L1State float64                // gravity at the start; 0: that of the loaded model, or 0
	L2State option.Option[float64] // contraction at the start; not set, or 1: that of the loaded model, or 1

	Input           string // file with the λ and centre of each weight, used instead of L2 and Model.Initial; Model.Open opens it. Empty: none
	Output          string // file for the Hessian at the end, as a regulariser; for the model without L-BFGS. Empty: none
	OutputText      string // likewise, as text
	OutputOnAnyRank bool   // another rank of the job has an Output or OutputText; implied by either file
}

// LossConfig configures the loss function, the range of predictions, and the link function.
type LossConfig struct {
	Function    string  // "squared", "classic", "hinge", "logistic", "quantile", "expectile" or "poisson"; empty: squared
	QuantileTau float32 // τ of the quantile loss; 0: 0.5
	ExpectileQ  float32 // q of the expectile loss; it has no default

	LogisticMin   option.Option[float32] // label of the negative class of the logistic loss; not set: -1
	LogisticMax   option.Option[float32] // label of its positive class; not set: 1
	MinPrediction option.Option[float32] // smallest prediction; if neither limit is set, the range follows the labels
	MaxPrediction option.Option[float32] // largest prediction; if only the other limit is set: 0

	Link   string // "identity", "logistic", "glf1" or "poisson"; empty: that of the loaded model, or identity
	Binary bool   // predict -1 or 1, and report the 0/1 loss
}

// OAAConfig configures the reduction of many classes to one model per class.
type OAAConfig struct {
	Classes       int                // number of classes; 0: one model of simple labels
	Subsample     int                // number of other classes that learn from an example; 0: all
	Probabilities bool               // predict the probability of each class
	Scores        bool               // predict the score of each class
	Indexing      option.Option[int] // label of the first class, 0 or 1; not set: by the data
	NamedLabels   string             // names of the classes, separated by commas; empty: numbers
}

// BatchConfig configures L-BFGS and conjugate gradients.
type BatchConfig struct {
	BFGS              bool                   // learn by L-BFGS
	ConjugateGradient bool                   // learn by conjugate gradients: BFGS with a Mem of 0, and without Termination unless it is set
	Mem               option.Option[int]     // pairs of vectors that L-BFGS keeps, 0 means conjugate gradients; not set: 15
	HessianOn         bool                   // find the length of each step by a curvature pass
	Termination       option.Option[float64] // least relative decrease of the loss; not set: 0.001
	Semantics         optim.Semantics        // version of vw to agree with; zero: 7.10

	// Solver is "lbfgs", "newton" (Newton's method by conjugate gradients), "giant" (the mean of
	// the ranks' Newton directions) or "auto" (one of them, by the times of the first pass). Empty:
	// lbfgs, or conjugate gradients.
	Solver string
	// HessianSample is the share of the examples in products with the Hessian, above 0 and at
	// most 1. Less is faster, and costs memory for that share. 0: 1, and 0.1 if "auto" chooses newton.
	HessianSample float64
	SampleSeed    uint64 // seed of that choice
}

// ModelConfig configures the models that a run reads and writes, and the weights at its start.
type ModelConfig struct {
	Initial     string                                   // model to start from; empty: none
	Open        func(name string) (io.ReadCloser, error) // opens a model, regulariser or dictionary; needed if there is one
	Loaded      func(options []model.Option) error       // called once with the options that Initial keeps, n-grams included, before they are merged into the Config; an error ends the run. nil: no call
	Start       sgd.Start                                // weights before the first example, without Initial
	FeatureMask string                                   // model whose weights other than 0 may change; empty: all may change

	Final       string // model to write; empty: none
	Readable    string // model to write as text; empty: none
	InvertHash  string // model to write as text, with the names of features; empty: none
	PredictOnly bool   // leave out the state that further training needs
	HexWeights  bool   // write the weights of text models in hexadecimal
	SavePerPass bool   // also write Final.N after pass N
	ID          string // text that the model keeps; empty: that of Initial

	// PreserveCounters continues the counters and sums of Initial; otherwise they
	// start at 0. As in vw, a test has its own counters.
	PreserveCounters bool
}

// OutputConfig configures predictions and the creation of files.
type OutputConfig struct {
	Predictions    string                            // file for predictions; empty: none
	RawPredictions string                            // file for predictions before the link function; empty: none
	Audit          io.Writer                         // gets each example's features with their weights; nil: none
	Create         func(name string) (Output, error) // creates each file that the run writes; needed if there is one
}

// MetricsConfig configures the measures of predictions.
type MetricsConfig struct {
	Measures metric.Set // measures to compute; empty: none
	File     string     // file for the measures of the model, in JSON; empty: none
	Extra    string     // file for vw's counts of calls, in JSON, in one process; empty: none
	PassLog  io.Writer  // gets one line of JSON after each pass; nil: none
}

// DiagnosticsConfig configures the messages of a run to its user.
type DiagnosticsConfig struct {
	Writer         io.Writer      // gets vw's table and summary, usually stderr; nil: none
	Quiet          bool           // leave out the table and the summary
	NoBestConstant bool           // leave the best constant out of the summary
	Progress       string         // rows of the table: an integer is a step, a number with a point a factor; empty: 2.0
	Log            *slog.Logger   // warnings, and events of the cluster; nil: discarded
	Watch          func(Progress) // called every few thousand examples; nil: no call
	// Vectors is called after each pass of asynchronous training and at its end, with what this rank has exchanged; nil: no call.
	Vectors func(Exchanged)
	Waited  *atomic.Int64 // adds up the nanoseconds in which passes over the data wait for examples; nil: they are not measured
}

// ClusterConfig configures the job that the process belongs to. Without Join and Group the process
// learns by itself.
type ClusterConfig struct {
	// Join is the configuration with which Run joins the job when the work of the first step is
	// done. The learner sets the digest and the identity of the shard. nil: no job.
	Join *allreduce.Config
	// Group is a group that JoinSpare or JoinEarly has returned. Run uses it instead of joining, and
	// closes it. nil: Run joins.
	Group *allreduce.Group
	// SingleWriter makes only one rank write Model.Final and the other files that all ranks would write
	// alike: the lowest that takes part. If the job starts without rank 0, a late
	// rank 0 copies the files from RunDir. It is for launchers that put the files of all
	// ranks into one directory.
	SingleWriter bool
	// RunDir keeps the delivered files of the run for late attempts of its ranks; nil: they are not kept.
	RunDir RunDir
}

// Exchanged is what a rank has exchanged by shared vectors since it has joined their job.
type Exchanged = maltstage.Exchanged

// Progress describes how far a run has come.
type Progress struct {
	Pass, Passes int // the current pass, and the largest number of passes
	Examples     int // examples read in this pass, on this rank
	Of           int // examples of the pass; 0: not known yet
	// Loss is the mean loss of this rank's examples: of SGD that of all so far, each measured before the rank learned from it, and of
	// batch solvers that of the newest whole pass. NaN: none had a label.
	Loss float64
}

// Hybrid is --hybrid P:Q: P passes of SGD, then up to Q passes of L-BFGS (the
// curvature pass counts), in one process with one cache.
type Hybrid struct {
	SGDPasses   int // P ≥ 1
	LBFGSPasses int // Q ≥ 2
}
