// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gvw-project/gvw/feature"
)

// Losses.
const (
	Logistic = "logistic"
	Softmax  = "softmax"
	Ranking  = "ranking"
)

// Activations of hidden layers.
const (
	ReLU = "relu"
	Tanh = "tanh"
)

// Rules of a step.
const (
	AdaGrad  = "adagrad"
	Momentum = "momentum"
)

// The values of Config.Loss, Config.Activation and Config.Rule.
var (
	Losses      = []string{Logistic, Softmax, Ranking}
	Activations = []string{ReLU, Tanh}
	Rules       = []string{AdaGrad, Momentum}
)

// Limits of a network.
const (
	MaxLayers = 16
	MaxUnits  = 1 << 16 // of a hidden layer, and outputs
)

// Defaults of Config.
const (
	defaultBatch    = 32
	defaultRate     = 0.02
	defaultMomentum = 0.9
)

// Config describes a network.
type Config struct {
	Inputs     int    // number of features; required
	Hidden     []int  // units of the hidden layers, from the input up; none: a linear model
	Outputs    int    // 1 for Logistic, classes for the other losses; required
	Activation string // of hidden layers; "": ReLU
	Embedding  bool   // the first hidden layer has no activation
	Loss       string // "": Logistic for one output, Softmax for more

	Batch    int     // examples of a step; 0: 32
	Rule     string  // of a step; "": AdaGrad
	Rate     float64 // length of a step in the first pass; 0: 0.02
	Decay    float64 // the rate of pass n, from 0, is Rate/(1 + Decay·n); 0: it stays
	Momentum float64 // share of the last step in the next one, below 1, for the rule Momentum; 0: 0.9
	Lambda   float64 // L2 regularisation of weights, not of biases; 0: none
	Average  bool    `json:",omitempty"` // Finish makes the weights their mean at the ends of passes, from the second on
	Seed     uint64  // of the first weights

	Length float64 // root mean square of the lengths of input vectors, for the first weights; 0: √Inputs
	Text   bool    // input vectors become log(1 + x), scaled to length 1
	// Center and Scale standardise: each input becomes (x − Center)·Scale, before Text. An absent feature counts
	// as 0, so with Center an example costs as much as one with all features. nil: 0 and 1.
	Center, Scale []float32 `json:"-"`
	// Quantiles has levels of each input, ascending, as Quantiles returns them. Each input becomes its place among its
	// levels, which has mean 0 and deviation 1 if the levels are those of the data. An absent feature counts as 0, as with
	// Center. nil: inputs stay.
	Quantiles []float32 `json:"-"`
	// InputIDs are the caller's numbers of the inputs, which are kept with the model. nil: none.
	InputIDs []uint32 `json:"-"`
	// Weights is the memory of each layer, LayerSize long. nil: New allocates it.
	Weights [][]float32 `json:"-"`
	// Continue keeps the contents of Weights. False: New sets the first weights.
	Continue bool `json:"-"`
	// Stepped is called after each step with the rows of the first layer that it has changed, except that of the bias, which
	// all steps change, as they do all rows of the other layers. The slice is valid during the call. nil: no call.
	Stepped func(rows []uint32) `json:"-"`
}

// Layers returns the number of layers: the hidden ones and the output.
func (c Config) Layers() int { return len(c.Hidden) + 1 }

// shape returns the units below and of a layer, from 0.
func (c Config) shape(layer int) (in, out int) {
	in, out = c.Inputs, c.Outputs
	if layer > 0 {
		in = c.Hidden[layer-1]
	}
	if layer < len(c.Hidden) {
		out = c.Hidden[layer]
	}
	return in, out
}

// LayerSize returns the number of weights of a layer, from 0, and the length of its rows.
func (c Config) LayerSize(layer int) (size, row int) {
	in, out := c.shape(layer)
	return (in + 1) * out, out
}

// Validate reports all faults.
func (c Config) Validate() error {
	var errs []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf("nn.Config."+format, args...))
		}
	}
	number := func(name string, x float64) {
		fault(!(x >= 0) || math.IsInf(x, 0), "%s: got %v, want a number above 0, or 0 for the default", name, x)
	}
	choice := func(name, x string, of []string) {
		fault(x != "" && !slices.Contains(of, x), "%s: got %q, want one of %q", name, x, of)
	}
	fault(c.Inputs < 1 || c.Inputs > math.MaxInt32-1, "Inputs: got %d, want 1 to %d", c.Inputs, math.MaxInt32-1)
	fault(c.Outputs < 1 || c.Outputs > MaxUnits, "Outputs: got %d, want 1 to %d", c.Outputs, MaxUnits)
	fault(len(c.Hidden) >= MaxLayers, "Hidden: got %d layers, want at most %d", len(c.Hidden), MaxLayers-1)
	for _, n := range c.Hidden {
		fault(n < 1 || n > MaxUnits, "Hidden: got a layer of %d units, want 1 to %d", n, MaxUnits)
	}
	fault(c.Embedding && len(c.Hidden) == 0, "Embedding: got no hidden layer, want at least one")
	choice("Activation", c.Activation, Activations)
	choice("Loss", c.Loss, Losses)
	choice("Rule", c.Rule, Rules)
	if c.Loss == Logistic {
		fault(c.Outputs != 1, "Outputs: got %d with Loss=logistic, want 1", c.Outputs)
	} else {
		fault(c.Loss != "" && c.Outputs == 1, "Outputs: got 1 with Loss=%s, want the number of classes", c.Loss)
	}
	fault(c.Batch < 0, "Batch: got %d, want 1 or more examples, or 0 for %d", c.Batch, defaultBatch)
	number("Rate", c.Rate)
	number("Decay", c.Decay)
	number("Lambda", c.Lambda)
	number("Length", c.Length)
	fault(!(c.Momentum >= 0 && c.Momentum < 1), "Momentum: got %v, want at least 0 and below 1; 0 for %v", c.Momentum, defaultMomentum)
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	return c.validateMemory()
}

// validateMemory reports the faults of slices.
func (c Config) validateMemory() error {
	var errs []error
	sized := func(name string, got, want int) {
		if got != 0 && got != want {
			errs = append(errs, fmt.Errorf("nn.Config.%s: got %d, want %d", name, got, want))
		}
	}
	sized("Center", len(c.Center), c.Inputs)
	sized("Scale", len(c.Scale), c.Inputs)
	if c.Quantiles != nil {
		errs = append(errs, c.validateQuantiles())
	}
	sized("InputIDs", len(c.InputIDs), c.Inputs)
	sized("Weights", len(c.Weights), c.Layers())
	for i := range c.Layers() {
		in, out := c.shape(i)
		if uint64(in+1)*uint64(out) > math.MaxInt/16 {
			errs = append(errs, fmt.Errorf("nn.Config.Hidden: layer %d of %d by %d units does not fit the address space", i+1, in, out))
		} else if i < len(c.Weights) {
			size, _ := c.LayerSize(i)
			sized(fmt.Sprintf("Weights[%d]", i), len(c.Weights[i]), size)
		}
	}
	if c.Continue && c.Weights == nil {
		errs = append(errs, errors.New("nn.Config.Continue: got no Weights from which to continue"))
	}
	return errors.Join(errs...)
}

// validateQuantiles reports the faults of Quantiles.
func (c Config) validateQuantiles() error {
	levels := len(c.Quantiles) / c.Inputs
	switch {
	case len(c.Quantiles)%c.Inputs != 0 || levels < 2:
		return fmt.Errorf("nn.Config.Quantiles: got %d, want Inputs (%d) times at least 2 levels", len(c.Quantiles), c.Inputs)
	case c.Center != nil || c.Scale != nil || c.Text:
		return errors.New("nn.Config.Quantiles: got them with Center, Scale or Text: inputs change in one way only")
	}
	for row := range slices.Chunk(c.Quantiles, levels) {
		if !slices.IsSorted(row) {
			return errors.New("nn.Config.Quantiles: got levels that descend, want ascending ones for each input")
		}
	}
	return nil
}

// withDefaults returns the configuration with its defaults.
func (c Config) withDefaults() Config {
	if c.Activation == "" {
		c.Activation = ReLU
	}
	if c.Loss == "" {
		if c.Loss = Softmax; c.Outputs == 1 {
			c.Loss = Logistic
		}
	}
	if c.Batch == 0 {
		c.Batch = defaultBatch
	}
	if c.Rule == "" {
		c.Rule = AdaGrad
	}
	if c.Rate == 0 {
		c.Rate = defaultRate
	}
	if c.Momentum == 0 {
		c.Momentum = defaultMomentum
	}
	if c.Length == 0 {
		c.Length = math.Sqrt(float64(c.Inputs))
	}
	return c
}

// Example is a labelled example.
type Example struct {
	Class    int     // 0 to Outputs-1; 0 or 1 for Logistic
	Weight   float32 // importance; 0 and below: Update ignores the example
	Features []feature.Feature
}
