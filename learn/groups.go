// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/gvw-project/gvw/learn/internal/usage"
	"github.com/gvw-project/gvw/learn/internal/vwtext"
	"github.com/gvw-project/gvw/learn/metric"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/optim"
	"github.com/gvw-project/gvw/optim/ftrl"
	"github.com/gvw-project/gvw/optim/sgd"
)

// ruleFields are the paths in Config of the fields of sgd.Flags that have another group or name.
var ruleFields = map[string]string{"Bits": "Features.Bits", "L1": "Reg.L1", "L2": "Reg.L2", "SparseL2": "Reg.SparseL2"}

// addRule adds the faults of options of SGD, with the fields of Config.
func addRule(f *usage.Faults, options sgd.Flags) {
	joined, _ := options.Validate().(interface{ Unwrap() []error })
	if joined == nil {
		return
	}
	for _, err := range joined.Unwrap() {
		e, ok := errors.AsType[*sgd.FieldError](err)
		if !ok {
			f.Add("", "%v", err)
			continue
		}
		f.Add(cmp.Or(ruleFields[e.Field], "SGD."+e.Field), "%s", e.Text)
	}
}

// Validate reports every fault of the group at once. Whether the files exist is found when they
// are opened.
func (c *DataConfig) Validate() error {
	var f usage.Faults
	if len(c.Inputs) == 0 && c.Cache == "" {
		f.Add("Data.Inputs", "there is nothing to read: give inputs, or a cache (learn.Config.Data.Cache)")
	}
	switch c.Format {
	case "", FormatJSON, FormatLIBSVM, FormatCSR:
	case FormatCSV, FormatParquet:
		if err := c.CSV.Validate(); err != nil {
			f.Add("", "%v", err) // it names the fields of csv.Config
		}
	default:
		f.Add("Data.Format", "%q is no format: text is the default, the others are json, csv, parquet, libsvm and csr", c.Format)
	}
	if c.MaxLine < 0 {
		f.Add("Data.MaxLine", "%d bytes: a number above 0 is needed", c.MaxLine)
	}
	if c.Examples < 0 {
		f.Add("Data.Examples", "%d is no number of examples", c.Examples)
	}
	if c.PassLength < 0 {
		f.Add("Data.PassLength", "%d is no number of examples", c.PassLength)
	}
	if m := c.ExampleMemory.Value; m < 0 {
		f.Add("Data.ExampleMemory", "%d bytes is negative", m)
	}
	if c.ShuffleMemory < 0 {
		f.Add("Data.ShuffleMemory", "%d bytes is negative", c.ShuffleMemory)
	}
	for _, w := range c.ClassWeights {
		if !(w.Weight >= 0) {
			f.Add("Data.ClassWeights", "%g:%g: a weight of 0 or more is needed", w.Label, w.Weight)
		}
	}
	return f.Err()
}

// Validate reports every fault of the group at once.
func (c *HoldoutConfig) Validate() error {
	var f usage.Faults
	if c.Period < 0 {
		f.Add("Holdout.Period", "every %d-th example cannot be held out", c.Period)
	}
	if c.After < 0 {
		f.Add("Holdout.After", "%d is no number of examples", c.After)
	}
	if c.EarlyTerminate < 0 {
		f.Add("Holdout.EarlyTerminate", "%d passes: at least one is needed", c.EarlyTerminate)
	}
	return f.Err()
}

// Validate reports every fault of the group at once, those of Namespaces included.
func (c *FeatureConfig) Validate() error {
	var f usage.Faults
	if c.Bits > 32 {
		f.Add("Features.Bits", "%d bits: gvw keeps 2^b weights with b from 1 to 32", c.Bits)
	}
	switch c.Hash {
	case "", "strings", "all":
	default:
		f.Add("Features.Hash", "%q is no way to hash: give strings or all", c.Hash)
	}
	return errors.Join(f.Err(), c.Namespaces.Validate())
}

// Validate reports every fault of the group at once. A combination of options can be a fault
// although each is in its range: the learning rate of some rules is a product, which can overflow.
func (c *SGDConfig) Validate() error {
	var f usage.Faults
	f.Negative("SGD.Hogwild", float64(c.Hogwild))
	f.Negative("SGD.Threads", float64(c.Threads))
	addRule(&f, c.options())
	return f.Err()
}

// options returns the group as options of SGD, without regularisation.
func (c *SGDConfig) options() sgd.Flags {
	return sgd.Flags{
		SGD: c.Plain, Adaptive: c.Adaptive, Normalized: c.Normalized, Invariant: c.Invariant, Adax: c.Adax,
		LearningRate: c.LearningRate, PowerT: c.PowerT, InitialT: c.InitialT, DecayLearningRate: c.DecayLearningRate,
	}
}

// Validate reports every fault of the group at once. Without a Rule the other fields have no
// effect and no faults.
func (c *FTRLConfig) Validate() error {
	var f usage.Faults
	switch {
	case c.Rule == ftrl.None:
	case c.Rule > ftrl.FreeGrad:
		f.Add("FTRL.Rule", "%d is no rule: want at most %d", c.Rule, ftrl.FreeGrad)
	case c.Rule == ftrl.FreeGrad:
		f.Negative("FTRL.FreeGrad.Wealth", float64(c.FreeGrad.Wealth))
		f.Negative("FTRL.FreeGrad.Lipschitz", float64(c.FreeGrad.Lipschitz))
		f.Negative("FTRL.FreeGrad.Radius", float64(c.FreeGrad.Radius))
	default:
		f.Negative("FTRL.Alpha", float64(c.Alpha.Or(0)))
		f.Negative("FTRL.Beta", float64(c.Beta.Or(0)))
	}
	return f.Err()
}

// Validate reports every fault of the group at once.
func (c *RegConfig) Validate() error {
	var f usage.Faults
	f.Negative("Reg.L1", c.L1)
	f.Negative("Reg.L2", c.L2)
	f.Negative("Reg.SGDL2", c.SGDL2)
	addRule(&f, sgd.Flags{SparseL2: c.SparseL2})
	return f.Err()
}

// Validate reports every fault of the group at once.
func (c *LossConfig) Validate() error {
	var f usage.Faults
	if _, err := c.function(); err != nil {
		f.Add("Loss.Function", "%v", err)
	}
	if c.MinPrediction.Set && c.MaxPrediction.Set && c.MinPrediction.Value > c.MaxPrediction.Value {
		f.Add("Loss.MinPrediction", "%g is above learn.Config.Loss.MaxPrediction=%g", c.MinPrediction.Value, c.MaxPrediction.Value)
	}
	if _, err := loss.NewLink(cmp.Or(c.Link, defaultLink)); err != nil {
		f.Add("Loss.Link", "%v", err)
	}
	return f.Err()
}

// function returns the loss function with its parameters.
func (c *LossConfig) function() (loss.Loss, error) {
	classes := loss.Range{Min: c.LogisticMin.Or(-1), Max: c.LogisticMax.Or(1)}
	return loss.NewWith(cmp.Or(c.Function, defaultLoss), loss.Params{Tau: c.QuantileTau, Expectile: c.ExpectileQ, Logistic: classes})
}

// Validate reports every fault of the group at once. Without Classes the other fields have no
// effect and no faults.
func (c *OAAConfig) Validate() error {
	var f usage.Faults
	switch {
	case c.Classes == 0:
		return nil
	case c.Classes < 0:
		f.Add("OAA.Classes", "%d is no number of classes", c.Classes)
	}
	if c.Subsample < 0 {
		f.Add("OAA.Subsample", "%d is no number of classes", c.Subsample)
	}
	names := c.names()
	switch first := c.Indexing.Or(1); {
	case first != 0 && first != 1:
		f.Add("OAA.Indexing", "%d: labels count from 0 or from 1", first)
	case names != nil && first != 1:
		f.Add("OAA.Indexing", "%d: learn.Config.OAA.NamedLabels count from 1", first)
	}
	if names != nil && len(names) != c.Classes {
		f.Add("OAA.NamedLabels", "there are %d named labels, and learn.Config.OAA.Classes has %d classes", len(names), c.Classes)
	}
	seen := map[string]bool{}
	for _, n := range names {
		if n == "" || seen[n] || strings.ContainsAny(n, " \t:|") {
			f.Add("OAA.NamedLabels", "%q: want different words without blanks, ':' and '|', separated by commas", n)
		}
		seen[n] = true
	}
	return f.Err()
}

// names returns the names of the classes, or nil if labels are numbers.
func (c *OAAConfig) names() []string {
	if c.NamedLabels == "" || c.Classes == 0 {
		return nil
	}
	return strings.Split(c.NamedLabels, ",")
}

// Validate reports every fault of the group at once.
func (c *BatchConfig) Validate() error {
	var f usage.Faults
	if _, ok := methods[c.Solver]; !ok {
		f.Add("Batch.Solver", "%q is no solver: want lbfgs, newton, giant or auto", c.Solver)
	}
	if !(c.HessianSample >= 0 && c.HessianSample <= 1) {
		f.Add("Batch.HessianSample", "%v is no share of the examples: want more than 0 and at most 1", c.HessianSample)
	}
	if c.Mem.Or(0) < 0 {
		f.Add("Batch.Mem", "%d pairs: 0 for conjugate gradients, or more", c.Mem.Value)
	}
	f.Negative("Batch.Termination", c.Termination.Or(0))
	if c.Semantics > optim.VW9 {
		f.Add("Batch.Semantics", "%v is no version of vw: want %v or %v", c.Semantics, optim.VW7, optim.VW9)
	}
	return f.Err()
}

// Validate reports every fault of the group at once.
func (h *Hybrid) Validate() error {
	var f usage.Faults
	if h.SGDPasses < 1 || h.LBFGSPasses < 2 {
		f.Add("Hybrid", "%d:%d: at least 1 pass of SGD and 2 of L-BFGS are needed (the curvature pass counts)", h.SGDPasses, h.LBFGSPasses)
	}
	return f.Err()
}

// Validate reports every fault of the group at once.
func (c *ModelConfig) Validate() error {
	var f usage.Faults
	if c.Initial+c.FeatureMask != "" && c.Open == nil {
		f.Add("Model.Open", "it is needed for a model to read")
	}
	return f.Err()
}

// Validate reports every fault of the group at once.
func (c *OutputConfig) Validate() error {
	var f usage.Faults
	if c.Predictions+c.RawPredictions != "" && c.Create == nil {
		f.Add("Output.Create", "it is needed for files to write")
	}
	return f.Err()
}

// Validate reports every fault of the group at once.
func (c *MetricsConfig) Validate() error {
	var f usage.Faults
	if c.File != "" && len(c.Measures) == 0 {
		f.Add("Metrics.File", "it would be empty without learn.Config.Metrics.Measures")
	}
	for _, name := range c.Measures {
		if !slices.Contains(metric.Names, name) {
			f.Add("Metrics.Measures", "%q is no measure: want some of %s", name, strings.Join(metric.Names, ", "))
		}
	}
	return f.Err()
}

// Validate reports every fault of the group at once.
func (c *DiagnosticsConfig) Validate() error {
	var f usage.Faults
	if c.Quiet {
		return nil // no table, so Progress has no effect, as in vw
	}
	if _, err := vwtext.NewTable(nil, c.Progress); err != nil {
		f.Add("Diagnostics.Progress", "%v", err)
	}
	return f.Err()
}

// Validate reports every fault of the group at once. Those of Join are not among them: some of its
// fields are set later, and joining reports them.
func (c *ClusterConfig) Validate() error {
	var f usage.Faults
	if c.Group != nil && c.Join == nil {
		f.Add("Cluster.Join", "it is missing, and learn.Config.Cluster.Group is set: keep the Join by which the group was made")
	}
	return f.Err()
}
