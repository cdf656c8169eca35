// SPDX-License-Identifier: Apache-2.0

package reduction

import (
	"fmt"
	"math"
	"strconv"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/internal/merand"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/optim/sgd"
)

// Spec describes a kind of learner.
type Spec struct {
	Name    string   // the option that enables it
	Options []Option // its options, the one that enables it first
	// Above reports whether vw's stack has the learner above the link function, which then applies
	// to the predictions of each linear learner.
	Above bool
	// Bottom reports whether the learner has an update rule of its own, instead of vw's gd. Its
	// table has rows of Plan.Slots floats, a power of two apart, for each of the features, and its
	// settings are those of the plain rule. A model has all rows, without resume state, unless
	// Plan.Kept is set.
	Bottom bool
	// Staged reports whether the learner learns in several passes only ([Stages]), so that no server
	// can train it.
	Staged bool
	// PredictsFirst reports whether vw predicts an example before it learns from it, so that the
	// prediction that it shows is within the range of earlier labels.
	PredictsFirst bool
	// Weightless reports whether it learns from examples of weight 0, too.
	Weightless bool
	// Whole reports whether the learner needs vw's numbers of features (feature.Config.Whole).
	Whole bool
	// Labels is the kind of labels that it learns. Zero: simple ones.
	Labels feature.LabelKind
	// Variant returns what vw's banner has behind the name; nil: nothing.
	Variant func(Values) string
	// Banner returns a line of vw's banner, before the data; nil: none.
	Banner func(Values) string
	// Excludes returns the fault of a learner beside the rest of the configuration, empty if there
	// is none; nil: nothing is excluded.
	Excludes func(Setting) string
	// New checks the options, and returns the learner to be made. Its error joins a [*Fault] for
	// each fault.
	New func(Values) (Plan, error)
}

// Fault is a fault of an option's value, or of an option beside others.
type Fault struct {
	Option string
	Text   string
}

func (f *Fault) Error() string { return f.Option + ": " + f.Text }

// Kind is the kind of value that an option takes.
type Kind uint8

const (
	Flag   Kind = iota // none
	Count              // a whole number, 0 or more
	Number             // a float32
	Word
	Words // several words, as of -q
)

// Option is an option of a learner. Names, values and meanings are vw's, if vw has the learner.
type Option struct {
	Name    string // with underscores
	Kind    Kind
	Arg     string // name of the value in help
	Help    string // one line
	Default string // in help; empty: none
	Choices []string
	Kept    bool // models keep it
}

// Setting is what a learner may check of the rest of the configuration.
type Setting struct {
	Loss         string   // name of the loss function
	Link         string   // name of the link function
	Interactions []string // namespaces that are crossed, without escapes
	IgnoreLinear []string // namespaces that only interactions use

	Options Values // of the learner

	Adaptive, Normalized bool // rules of SGD that the caller asks for
}

// Plan is a learner that is to be made, with valid options.
type Plan struct {
	Slots    int // weights per feature; 0: 1
	Learners int // linear learners among these, each with sums of its own; 0: as many as Slots
	// Positive draws the initial weights from 0 to 0.1, unless the options set another value.
	Positive bool
	// Start sets the initial floats of a row, whose first one has this number in the table. nil:
	// the first one is as the options set it.
	Start func(row []float32, first uint64)
	// Kept is the number of floats at the beginning of a row that a model of a learner with its own
	// rule keeps, as that of a linear learner with resume state; 0: the model has all rows.
	Kept int
	// Alone is why several ranks cannot train the learner; empty: they can.
	Alone string
	Make  func(*Env) (Learner, error)

	// Classes is the number of classes of a learner of other labels than simple ones, and
	// MakeClassifier takes the place of Make.
	Classes        int
	AnyLabel       bool // labels of other classes than 1 to Classes are learned, too
	MakeClassifier func(*Env) (Classifier, error)
}

// Widths returns the numbers of weights per feature and of linear learners.
func (p Plan) Widths() (slots, learners int) {
	slots = max(1, p.Slots)
	if p.Learners == 0 {
		return slots, slots
	}
	return slots, p.Learners
}

// Env is the surroundings of a learner.
type Env struct {
	Base   *sgd.Slots
	Loss   loss.Loss
	Seed   uint64        // of the options or of the loaded model
	Random *merand.State // vw's generator, which has drawn the initial weights
	L2     float32       // regularisation
	Before loss.Range    // of predictions before the label of the example that Learn gets
	Cross  [][2]byte     // pairs of namespaces that examples cross, in the order of feature.Config.Terms
	Fixed  bool          // the range of predictions does not follow the labels

	NoConstant bool // examples have no constant feature
	Testing    bool // nothing is learned from the examples
	Saves      bool // a model is written
	Endless    bool // the examples have no end, as those of a server
}

// Result is the prediction for an example.
type Result struct {
	Raw   float32 // before its limitation to the range
	Score float32 // prediction within the range
	Loss  float32 // unweighted; 0 for an example without a label
}

// Learner predicts examples and learns from them. It is for one goroutine.
type Learner interface {
	// Predict predicts an example.
	Predict(b *feature.Batch, ex *feature.Example) Result
	// Learn predicts an example that has a label and a weight above 0, and learns from it.
	Learn(b *feature.Batch, ex *feature.Example) Result
}

// Stateful is a learner with state outside the weights, in a fixed number of words.
type Stateful interface {
	AppendState(dst []uint64) []uint64
	SetState(words []uint64)
}

// Steady is a learner with state that only Learn and EndPass change. If vw predicts before it learns
// (Spec.PredictsFirst), the prediction of an example is that before Learn changes the state.
type Steady interface {
	Stateful
	Steady()
}

// Growing is a learner with state in any number of words that is a multiple of a unit.
type Growing interface {
	Stateful
	StateUnit() int
}

// Counter is a learner that counts the features of an example in its own way.
type Counter interface {
	// Features returns the number of features in the last Predict or Learn.
	Features() int
}

// Advancer is a learner that follows all examples, also those that it does not learn from.
type Advancer interface {
	// Advance precedes Predict and Learn of an example that is processed once. Predictions that are
	// only measured do not follow it.
	Advance(ex *feature.Example)
}

// Sectioned is a learner that keeps a section of a model. Package model has its form.
type Sectioned interface {
	AppendSection(dst []byte) []byte
	SetSection(p []byte) error
}

// Stages is a learner that learns in stages of several passes.
type Stages interface {
	// Start is called before the first pass, with the weights of the options or of a loaded model.
	Start()
	// BeginPass is called before each pass, with the number of those that have ended.
	BeginPass(done int)
	// Combined may change the combined weights of all ranks at the end of a pass, before they become
	// those of the next one. In a single process they are its own. done counts the pass. All ranks
	// call it with the same weights.
	Combined(w []float32, done int)
}

// PassEnder is a learner with work at the end of a pass.
type PassEnder interface {
	EndPass()
}

// Reporter is a learner whose predictions have a form of their own in files. The results are those
// of the last Predict or Learn.
type Reporter interface {
	Learner
	// AppendPrediction appends a line of -p, without its end. score is the prediction through the
	// link.
	AppendPrediction(dst []byte, score float32, tag []byte) []byte
	// AppendRaw appends the lines of -r. The last one has neither tag nor end.
	AppendRaw(dst, tag []byte) []byte
}

// LossOf returns the loss of a prediction, 0 for an example without a label.
func (e *Env) LossOf(score float32, ex *feature.Example) float32 {
	if !ex.Labeled() {
		return 0
	}
	return e.Loss.Loss(e.Base.Whole.Range, score, ex.Label)
}

// Result returns the result of an example with a raw score.
func (e *Env) Result(raw float32, ex *feature.Example) Result {
	score := e.Base.Whole.Range.Clip(raw)
	return Result{Raw: raw, Score: score, Loss: e.LossOf(score, ex)}
}

// Values are the values of the options that are given.
type Values map[string][]string

// Has reports whether an option is given.
func (v Values) Has(name string) bool { return len(v[name]) > 0 }

// Word returns the value of an option, and otherwise if it is not given.
func (v Values) Word(name, otherwise string) string {
	if w := v[name]; len(w) > 0 {
		return w[0]
	}
	return otherwise
}

// Count returns the value of an option between low and high, and low if it is not given.
func (v Values) Count(name string, low, high int) (int, error) {
	w := v.Word(name, strconv.Itoa(low))
	n, err := strconv.Atoi(w)
	if err != nil || n < low || n > high {
		return low, &Fault{name, fmt.Sprintf("%s: want a whole number from %d to %d", w, low, high)}
	}
	return n, nil
}

// Number returns the value of an option, and otherwise if it is not given.
func (v Values) Number(name string, otherwise float32) (float32, error) {
	if !v.Has(name) {
		return otherwise, nil
	}
	x, err := strconv.ParseFloat(v[name][0], 32)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return otherwise, &Fault{name, v[name][0] + ": want a finite number"}
	}
	return float32(x), nil
}

// AppendNumber appends a number as vw prints predictions: with six decimals, or with none if it is
// whole.
func AppendNumber(dst []byte, v float32) []byte {
	f := float64(v)
	if f == math.Trunc(f) {
		return strconv.AppendFloat(dst, f+0, 'f', 0, 64)
	}
	return strconv.AppendFloat(dst, f, 'f', 6, 64)
}

// AppendTag appends the tag of an example, if it has one.
func AppendTag(dst, tag []byte) []byte {
	if len(tag) == 0 {
		return dst
	}
	return append(append(dst, ' '), tag...)
}
