// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/learn/metric"
	"github.com/gvw-project/gvw/learn/nn"
)

// NN runs gvw nn.
func NN(ctx context.Context, p *cli.Process, c *cli.Command, args []string) error {
	return command(ctx, p, c, args, func(c *cli.Context) program {
		n := &nnProgram{config: nn.Config{
			Outputs: int(number(c, "classes", 1)), Activation: c.String("activation"), Embedding: c.Bool("embedding"), Loss: c.String("loss_function"),
			Batch: int(c.Uint64("batch")), Rule: c.String("rule"), Rate: c.Float64("learning_rate"), Decay: c.Float64("rate_decay"),
			Momentum: c.Float64("momentum"), Lambda: c.Float64("lambda"), Seed: c.Uint64("random_seed"), Text: c.Bool("text"), Average: c.Bool("average"),
		}, standardize: c.Bool("standardize"), quantiles: c.Bool("quantile_transform")}
		n.config.Hidden, n.fault = layerSizes(c.String("hidden"))
		if c.IsSet("momentum") && n.config.Momentum == 0 { // in nn.Config 0 is the default
			n.fault = errors.Join(n.fault, errors.New("--momentum 0: give a value above 0, such as 1e-9 for steps almost without momentum"))
		}
		return n
	})
}

// layerSizes reads numbers that are separated by commas.
func layerSizes(text string) (sizes []int, err error) {
	if text == "" {
		return nil, nil
	}
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(word)
		if err != nil {
			return nil, fmt.Errorf("--hidden %s: %q is no number of units: give numbers and commas, as in 64,32", text, word)
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}

// nnProgram is a neural network as a command.
type nnProgram struct {
	nnShared
	config      nn.Config
	standardize bool
	quantiles   bool
	fault       error      // of the options
	start       *nn.Config // of the model from which training continues; nil: none
	model       *nn.Model
	ids         rowNumbers
	totals      []float64 // of each input, over the examples observed
	squares     []float64
	count       int
	numbered    map[*feature.Batch]bool // whose features have the numbers of inputs
	last        int                     // the last pass
	sums        *metric.Sums
}

// features returns whole hashes, so that features share an input only if their hashes are equal.
func (n *nnProgram) features() feature.Config { return feature.Config{Bits: 32, NoConstant: true} }

func (n *nnProgram) check() error {
	c := n.config
	c.Inputs = 1 // the data has them
	if n.quantiles && (n.standardize || c.Text) {
		return errors.New("--quantile_transform with --standardize or --text: choose one of them")
	}
	return firstError(n.fault, c.Validate())
}

func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

func (n *nnProgram) modelOptions() []modelOption {
	c := n.config
	hidden := strings.ReplaceAll(strings.Trim(fmt.Sprint(c.Hidden), "[]"), " ", ",")
	return []modelOption{
		{"hidden", hidden},
		{"classes", c.Outputs},
		{"loss_function", c.Loss},
		{"activation", c.Activation},
		{"embedding", c.Embedding},
		{"text", c.Text},
		{"standardize", n.standardize},
		{"quantile_transform", n.quantiles},
		{"average", c.Average},
		{"batch", c.Batch},
		{"rule", c.Rule},
		{"learning_rate", c.Rate},
		{"rate_decay", c.Decay},
		{"momentum", c.Momentum},
		{"lambda", c.Lambda},
	}
}

func (n *nnProgram) restore(data []byte) error {
	n.model = &nn.Model{}
	if err := n.model.UnmarshalBinary(data); err != nil {
		return err
	}
	c := n.model.Config()
	n.ids, n.start, n.config = numbered(c.InputIDs), &c, c // features that are new remain unknown
	n.standardize, n.quantiles = c.Center != nil, c.Quantiles != nil
	return nil
}

// observe checks the class, and for a new model numbers the inputs and sums their values.
func (n *nnProgram) observe(ex example) error {
	if _, err := n.class(ex); err != nil || n.start != nil {
		return err
	}
	if n.ids == nil {
		n.ids = rowNumbers{}
	}
	n.count++
	for _, f := range ex.features() {
		n.config.InputIDs = n.ids.add(n.config.InputIDs, f.Index)
		if len(n.config.InputIDs) > len(n.totals) {
			n.totals, n.squares = append(n.totals, 0), append(n.squares, 0)
		}
		i := n.ids[f.Index]
		n.totals[i] += float64(f.Value)
		n.squares[i] += float64(f.Value) * float64(f.Value)
	}
	return nil
}

func (n *nnProgram) prepare(sample []example, _ int) error {
	if n.start != nil {
		return nil
	}
	n.config.Inputs = len(n.config.InputIDs)
	if n.quantiles {
		var inputs [][]feature.Feature
		for _, ex := range sample {
			n.number(ex)
			inputs = append(inputs, ex.features())
		}
		n.config.Quantiles = nn.Quantiles(inputs, n.config.Inputs)
	} else {
		n.measure()
	}
	n.totals, n.squares = nil, nil
	return nil
}

// number replaces the hashes of a batch's features by numbers of inputs, or by MaxUint32 for unknown ones.
func (n *nnProgram) number(ex example) {
	if n.numbered[ex.Batch] {
		return
	}
	if n.numbered == nil {
		n.numbered = map[*feature.Batch]bool{}
	}
	n.numbered[ex.Batch] = true
	for i := range ex.Features {
		f := &ex.Features[i]
		f.Index = uint32(n.ids.row(f.Index)) // -1 becomes MaxUint32
	}
}

// measure sets the factors of inputs and the length of an example.
func (n *nnProgram) measure() {
	count := float64(n.count)
	length := 0.0
	if n.standardize {
		n.config.Center, n.config.Scale = make([]float32, n.config.Inputs), make([]float32, n.config.Inputs)
	}
	for i, s := range n.squares {
		s /= count
		if n.standardize {
			mean := n.totals[i] / count
			n.config.Center[i], n.config.Scale[i] = float32(mean), 1
			if s -= mean * mean; s > 1e-9 {
				n.config.Scale[i] = float32(1 / math.Sqrt(s))
				s = 1
			}
		}
		length += s
	}
	if n.config.Length = math.Sqrt(length); n.config.Text {
		n.config.Length = 10 // small first weights: most rows occur rarely
	}
}

// create makes the model, or continues from that of restore.
func (n *nnProgram) create() (err error) {
	c := n.config
	if c.Continue = n.start != nil; c.Continue {
		for i, w := range c.Weights {
			copy(w, n.start.Weights[i])
		}
	}
	n.model, err = nn.New(c)
	return err
}

// class returns the class of an example: its label, from 1, or for one output whether the label is above 0.
func (n *nnProgram) class(ex example) (int, error) {
	if n.config.Outputs == 1 {
		if ex.Label > 0 {
			return 1, nil
		}
		return 0, nil
	}
	class := int(ex.Label) - 1
	if class < 0 || class >= n.config.Outputs || float32(class+1) != ex.Label {
		return 0, fmt.Errorf("an example has the label %v, want a class from 1 to %d (--classes)", ex.Label, n.config.Outputs)
	}
	return class, nil
}

func (n *nnProgram) update(ex example, pass int) float64 {
	if pass != n.last {
		n.model.EndPass(n.last)
		n.last = pass
	}
	n.number(ex)
	class, _ := n.class(ex) // observe has checked it
	return n.model.Update(nn.Example{Class: class, Weight: ex.Weight, Features: ex.features()}, pass)
}

func (n *nnProgram) finish() {
	n.model.EndPass(n.last)
	n.model.Finish()
}

func (n *nnProgram) encode(dst []byte) ([]byte, error) { return n.model.AppendBinary(dst) }

// predict returns the class from 1, or for one output the score.
func (n *nnProgram) predict(ex example) float64 {
	n.config = n.model.Config()
	n.number(ex)
	scores := n.model.Scores(ex.features())
	chosen := nn.Choose(scores)
	if class, err := n.class(ex); ex.Labeled() && err == nil {
		n.tally(ex, scores, class, chosen)
	}
	if len(scores) == 1 {
		return float64(scores[0])
	}
	return float64(chosen + 1)
}

// tally counts a prediction in the measures.
func (n *nnProgram) tally(ex example, scores []float32, class, chosen int) {
	if n.sums == nil {
		set := metric.Set{metric.LogLoss, metric.Accuracy}
		switch {
		case len(scores) == 1:
			set = append(set, metric.AUC)
		case n.config.Loss == nn.Ranking:
			set = set[1:] // its scores are no probabilities
		}
		n.sums = metric.NewSums(set)
	}
	if len(scores) == 1 {
		n.sums.Add(metric.Case{Label: ex.Label, Weight: ex.Weight, Score: scores[0], Probability: float32(nn.Probability(scores, 1))})
		return
	}
	n.sums.AddChoice(metric.Choice{Weight: ex.Weight, Score: scores[chosen], Right: chosen == class, Probability: float32(nn.Probability(scores, class))})
}

func (n *nnProgram) report() string { return measures(n.sums) }
