// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"context"
	"io"
	"io/fs"
	"log/slog"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/feature/cache"
	"github.com/gvw-project/gvw/feature/csv"
	"github.com/gvw-project/gvw/learn/metric"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/ftrl"
	"github.com/gvw-project/gvw/optim/sgd"
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
	// Header returns the first line of the file that the part is of, at most
	// limit bytes, for formats that have headers; own, and no line: the part
	// itself begins with it. nil: it does.
	Header func(limit int) (line []byte, own bool, err error)
	// None says that this stands for no input at all: the table counts no source.
	None bool
}

// Output is a file that appears under its final name only when it is whole.
type Output interface {
	io.Writer
	// Commit makes the file durable under its final name.
	Commit() error
	// Abort removes what was written. After Commit it does nothing.
	Abort() error
}

// Config says what to train, on what, and what to leave behind. The zero
// value of a field means what its comment says; Defaults fills the rest.
type Config struct {
	// Data and passes.
	Inputs    []Input     // examples, in order; none: the cache alone
	Cache     string      // cache file; empty: none
	CacheMode fs.FileMode // of a cache that is made; 0: 0600
	KillCache bool        // rebuild the cache even if it is valid
	// CacheCalls makes the calls to the file system for the cache; nil: they are made directly.
	CacheCalls func(ctx context.Context, name string) cache.Calls

	Passes         int  // passes over the data; 0: 1. With L-BFGS every pass counts, the curvature pass too
	TestOnly       bool // -t: predict, learn nothing
	Examples       int  // examples of each pass, in one process; 0: all
	PassLength     int  // SGD in one process ends its first pass after so many examples, see passLength; 0: no
	HoldoutOff     bool // no holdout set
	HoldoutAsked   bool // a holdout option was given: without one the hybrid holds nothing out
	HoldoutPeriod  int  // every n-th example is held out when Passes > 1; 0: 10
	HoldoutAfter   int  // examples after the n-th are held out; 0: by period
	EarlyTerminate int  // passes without a better holdout loss before the end; 0: 3

	// How the data is written.
	Format  string     // json, csv or libsvm; empty: vw's text
	CSV     csv.Config // options of csv
	Strict  bool       // a malformed line is an error; false: vw's recovery and a warning
	MaxLine int        // longest line, in bytes; 0: feature.DefaultMaxLine

	// ClassWeights multiply the importance of examples by label; none: 1. The
	// validation set keeps its own.
	ClassWeights []ClassWeight
	// Shuffle reads the examples in a random order from the second pass on, drawn
	// from ShuffleSeed, rank and pass. A shard that takes more than ShuffleMemory
	// bytes is shuffled piece by piece; 0: 512 MiB.
	Shuffle       bool
	ShuffleSeed   uint64
	ShuffleMemory int

	// Features.
	Bits       uint    // log2 of the number of weights; 0: 18 (or what the loaded model has)
	BitsSet    bool    // -b was given: a model of other bits is refused
	HashAll    bool    // --hash all
	HashSet    bool    // --hash was given: a model keeps it, whatever it is
	HashSeed   uint32  // --hash_seed
	SeedSet    bool    // --hash_seed was given
	NoConstant bool    // no constant feature
	Constant   float32 // the weight of the constant feature at the start
	Namespaces Namespaces
	// DictionaryPath are the folders in which the files of Namespaces.Dictionary are
	// searched, in order; OpenModel opens them. None: only under their names.
	DictionaryPath []string

	// The update rule (SGD).
	SGD, Adaptive, Normalized, Invariant bool    // as given; none: the default rule (all but SGD)
	LearningRate                         float32 // --learning_rate; LearningRateSet false: vw's default for the rule
	LearningRateSet                      bool
	PowerT                               float32 // exponent of the learning rate's decay; PowerTSet false: 0.5
	PowerTSet                            bool
	InitialT                             float32 // --initial_t; InitialTSet false: vw's default for the rule
	InitialTSet                          bool
	DecayLearningRate                    float32         // factor on the learning rate after each pass; 0: 1
	Adax                                 bool            // sums of x² instead of g²·x²
	SparseL2                             float32         // L2 regularisation of the weights of the example at hand
	FeatureMask                          string          // --feature_mask: the model whose weights other than 0 may change; empty: all may
	L1State                              float64         // gravity at the start; 0: the loaded model's, or 0
	L2State                              Option[float64] // contraction at the start; not set, or 1: the loaded model's, or 1
	Start                                sgd.Start       // the weights before the first example, where no loaded model has them
	L1                                   float64         // gravity of SGD; L-BFGS has none
	L2                                   float64         // λ of SGD, or of L-BFGS (and phase 2 of the hybrid)
	SGDL2                                float64         // λ of phase 1 of the hybrid

	// Loss and link.
	Loss                               string  // squared, classic, hinge, logistic, quantile, expectile or poisson; empty: squared
	LossSet                            bool    // it was asked for
	QuantileTau                        float32 // τ of the quantile loss; 0: 0.5
	ExpectileQ                         float32 // q of the expectile loss
	LogisticMin, LogisticMax           float32 // labels of the logistic loss's classes, where Set; else -1 and 1
	LogisticMinSet, LogisticMaxSet     bool
	MinPrediction, MaxPrediction       float32 // limits of predictions, where Set
	MinPredictionSet, MaxPredictionSet bool    // given; either of them fixes the range, which else follows the labels
	Link                               string  // identity, logistic, glf1 or poisson; empty: identity
	LinkSet                            bool    // --link was given: a model keeps it, whatever it is
	Binary                             bool    // predict -1 or 1 and report 0/1 loss

	// The FTRL family: a learner of its own, for one process.
	FTRL                ftrl.Rule       // none: SGD
	FTRLAlpha, FTRLBeta Option[float32] // its α and β; not set: vw's defaults

	// One against all.
	OAA           int    // --oaa: classes; 0: one model of simple labels
	OAASubsample  int    // classes that learn from an example that is not theirs; 0: all
	Probabilities bool   // predict the probability of every class
	Scores        bool   // predict the score of every class
	Indexing      int    // label of the first class, 0 or 1; IndexingSet false: the data decides
	IndexingSet   bool   //
	NamedLabels   string // names of the classes, separated by commas; empty: numbers

	// L-BFGS, conjugate gradients and the hybrid.
	BFGS                 bool
	ConjugateGradient    bool    // as BFGS with Mem 0, and no Termination unless set
	Mem                  int     // pairs kept, 0: conjugate gradients; MemSet false: 15
	MemSet               bool    //
	HessianOn            bool    // a curvature pass along every direction finds the step
	Termination          float64 // relative decrease of the loss that ends it; TerminationSet false: 0.001
	TerminationSet       bool
	NoBiasRegularization bool            // L2 spares the constant
	Semantics            optim.Semantics // which vw to agree with; zero: 7.10
	InputRegularizer     string          // file with a λ and a centre of each weight, in the place of L2 and InitialModel; empty: none. OpenModel opens it
	OutputRegularizer    string          // file to write such a thing to, from the Hessian at the end; empty: none. Without L-BFGS, the model
	OutputRegularizerTxt string          // the same as text
	Regularizes          bool            // another rank writes output regularisers; implied by either file
	Hybrid               *Hybrid         // SGD, then L-BFGS; nil: no

	// Models.
	InitialModel  string // -i, for messages; its bytes come from OpenModel
	OpenModel     func(name string) (io.ReadCloser, error)
	FinalModel    string // -f; empty: none
	PredictOnly   bool   // --predict_only_model: no resume state
	HexWeights    bool   // --hexfloat_weights: of text models
	ID            string // --id, written into the model; empty: that of the loaded one
	ReadableModel string // --readable_model; empty: none
	InvertHash    string // --invert_hash: the readable model with names; empty: none
	SavePerPass   bool   // also FinalModel.N after pass N
	// Loaded is called once with the options that the initial model keeps, n-grams
	// included, before they are merged into this Config. Its error ends the run. nil: no
	// call.
	Loaded func(options []model.Option) error
	// PreserveCounters lets sums and counters go on from the initial model's; else
	// they start at 0. A test has those of its own, as in vw.
	PreserveCounters bool

	// Predictions, and where files go.
	Predictions    string // -p; empty: none
	RawPredictions string // -r; empty: none
	Create         func(name string) (Output, error)

	// Measures.
	Metrics      metric.Set // what to measure; empty: nothing
	MetricsFile  string     // JSON with the measures of the model; empty: none
	ExtraMetrics string     // --extra_metrics: JSON with counts of vw's calls, in one process; empty: none
	Valid        []Input    // measured after each pass, and early stop goes by it; none: no
	PassLog      io.Writer  // gets one line of JSON a pass; nil: none

	// Audit is where each example's features are shown with their weights; nil: nowhere.
	Audit io.Writer

	// CheckMemory is called before tables are allocated, with the bytes that they
	// take; its error ends the run. nil: no check.
	CheckMemory func(bytes uint64) error

	// Talk.
	Talk           io.Writer      // vw's table and summary (stderr); nil: nowhere
	Quiet          bool           // no table, no summary
	NoBestConstant bool           // --dont_output_best_constant: the summary leaves it out
	Log            *slog.Logger   // warnings and progress of the cluster; nil: discarded
	Watch          func(Progress) // is told how far the run is, every some thousand examples; nil: nobody
	Progress       string         // -P: integer step or factor with a point; empty: 2.0

	// RunDir is where files stay that this run has delivered, for attempts of its ranks
	// that come later; nil: nowhere.
	RunDir RunDir

	// Cluster. nil: alone. Cluster makes the group when the first step's work
	// is done; the digest and the shard's identity come from the learner.
	Cluster *allreduce.Config
	// Group is what Enlist has returned to a spare that now has a rank, or Muster: Run goes on
	// with it instead of joining by Cluster, and closes it. nil: Run joins.
	Group *allreduce.Group
	// Once has one rank alone deliver what all would deliver alike, FinalModel and its like:
	// the lowest that takes part. Rank 0, should the job start without it, copies them from
	// RunDir when it comes. For launchers that put the files of all ranks into one place.
	Once bool
}

// Progress is how far a run is.
type Progress struct {
	Pass, Passes int // the pass under way, and how many there will be at most
	Examples     int // read in this pass, on this rank
	Of           int // of so many; 0: not known yet
}

// ClassWeight is the weight of a label.
type ClassWeight struct{ Label, Weight float32 }

// Hybrid is --hybrid P:Q: P passes of SGD, then up to Q passes of L-BFGS (the
// curvature pass counts), in one process with one cache.
type Hybrid struct {
	SGDPasses   int // P ≥ 1
	LBFGSPasses int // Q ≥ 2
}
