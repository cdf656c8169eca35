// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/feature/csv"
	"github.com/gvw-project/gvw/learn/metric"
	"github.com/gvw-project/gvw/optim/ftrl"
	"github.com/gvw-project/gvw/option"
)

// valid returns a configuration without faults, which can read a model and write files.
func valid() Config {
	return Config{
		Data:   DataConfig{Inputs: []Input{{Name: "x"}}},
		Model:  ModelConfig{Open: func(string) (io.ReadCloser, error) { return nil, errors.New("no such model") }},
		Output: OutputConfig{Create: func(string) (Output, error) { return nil, errors.New("read-only") }},
	}
}

// A job with vw workers cannot have collectives that vw does not call.
func TestJobWithVWWorkersRefuses(t *testing.T) {
	for field, by := range map[string]func(*Config){
		"":                  func(c *Config) { c.Batch.BFGS = true },
		"Batch.Solver":      func(c *Config) { c.Batch.BFGS, c.Batch.Solver = true, "newton" },
		"Average.Aggregate": func(c *Config) { c.Average.Aggregate = "model" },
		"LDA.Topics":        func(c *Config) { c.LDA.Topics = 2 },
		"Hybrid":            func(c *Config) { c.Hybrid = &Hybrid{1, 2} },
	} {
		c := valid()
		by(&c)
		err := c.checkStream()
		if fault, ok := errors.AsType[*UsageError](err); (field == "") != (err == nil) || ok && fault.Field != field {
			t.Errorf("got %v, want a fault of %q", err, field)
		}
	}
}

// noNumber is NaN as an option.
func noNumber() option.Option[float32] { return option.Some(float32(math.NaN())) }

// broken is a fault: a change that breaks a rule, and the field that the message begins with.
type broken struct {
	field string
	by    func(*Config)
}

// inGroups has a fault for each rule of one field. They are independent: any of them can occur
// together, and each is reported once.
var inGroups = []broken{
	{"Passes", func(c *Config) { c.Passes = -1 }},
	{"SGD.Hogwild", func(c *Config) { c.SGD.Hogwild = -1 }},
	{"SGD.Threads", func(c *Config) { c.SGD.Threads = -1 }},
	{"Data.Inputs", func(c *Config) { c.Data.Inputs = nil }},
	{"Data.Format", func(c *Config) { c.Data.Format = "xml" }},
	{"Data.MaxLine", func(c *Config) { c.Data.MaxLine = -1 }},
	{"Data.Examples", func(c *Config) { c.Data.Examples = -1 }},
	{"Data.PassLength", func(c *Config) { c.Data.PassLength = -1 }},
	{"Data.ShuffleMemory", func(c *Config) { c.Data.ShuffleMemory = -1 }},
	{"Data.ClassWeights", func(c *Config) { c.Data.ClassWeights = []ClassWeight{{Label: 1, Weight: -2}} }},
	{"Holdout.Period", func(c *Config) { c.Holdout.Period = -1 }},
	{"Holdout.After", func(c *Config) { c.Holdout.After = -1 }},
	{"Holdout.EarlyTerminate", func(c *Config) { c.Holdout.EarlyTerminate = -1 }},
	{"Features.Bits", func(c *Config) { c.Features.Bits = 33 }},
	{"Features.Hash", func(c *Config) { c.Features.Hash = "none" }},
	{"Features.Namespaces.Quadratic", func(c *Config) { c.Features.Namespaces.Quadratic = []string{"abc"} }},
	{"Features.Namespaces.Cubic", func(c *Config) { c.Features.Namespaces.Cubic = []string{"ab"} }},
	{"Features.Namespaces.SortFeatures", func(c *Config) {
		c.Features.Namespaces.SortFeatures, c.Features.Namespaces.NGrams = true, []string{"2"}
	}},
	{"SGD.LearningRate", func(c *Config) { c.SGD.LearningRate = option.Some[float32](-1) }},
	{"SGD.PowerT", func(c *Config) { c.SGD.PowerT = noNumber() }},
	{"SGD.InitialT", func(c *Config) { c.SGD.InitialT = option.Some[float32](-1) }},
	{"SGD.DecayLearningRate", func(c *Config) { c.SGD.DecayLearningRate = -1 }},
	{"SGD.Adax", func(c *Config) { c.SGD.Plain, c.SGD.Adax = true, true }},
	{"FTRL.Alpha", func(c *Config) { c.FTRL.Rule, c.FTRL.Alpha = ftrl.Coin, option.Some[float32](-1) }},
	{"FTRL.Beta", func(c *Config) { c.FTRL.Rule, c.FTRL.Beta = ftrl.Coin, noNumber() }},
	{"Malt.Graph", func(c *Config) { c.Malt.Every = 5 }},
	{"Reg.L1", func(c *Config) { c.Reg.L1 = -1 }},
	{"Reg.L2", func(c *Config) { c.Reg.L2 = math.NaN() }},
	{"Reg.SparseL2", func(c *Config) { c.Reg.SparseL2 = float32(math.Inf(1)) }},
	{"Loss.Function", func(c *Config) { c.Loss.Function = "cubic" }},
	{"Loss.Link", func(c *Config) { c.Loss.Link = "none" }},
	{"Loss.MinPrediction", func(c *Config) {
		c.Loss.MinPrediction, c.Loss.MaxPrediction = option.Some[float32](2), option.Some[float32](1)
	}},
	{"Batch.Mem", func(c *Config) { c.Batch.Mem = option.Some(-1) }},
	{"Batch.Termination", func(c *Config) { c.Batch.Termination = option.Some[float64](-1) }},
	{"Batch.Semantics", func(c *Config) { c.Batch.Semantics = 9 }},
	{"Model.Open", func(c *Config) { c.Model.Initial, c.Model.Open = "m", nil }},
	{"Output.Create", func(c *Config) { c.Output.Predictions, c.Output.Create = "p", nil }},
	{"Metrics.File", func(c *Config) { c.Metrics.File = "m.json" }},
	{"Diagnostics.Progress", func(c *Config) { c.Diagnostics.Progress = "often" }},
	{"Cluster.Join", func(c *Config) { c.Cluster.Group = &allreduce.Group{} }},
}

// longNames are names of classes that do not fit into the header of a model.
var longNames = func() OAAConfig {
	names := make([]string, 700)
	for i := range names {
		names[i] = fmt.Sprintf("%0100d", i)
	}
	return OAAConfig{Classes: len(names), NamedLabels: strings.Join(names, ",")}
}()

// beside has a fault for each other rule. Some exclude each other or have no effect together.
var beside = []broken{
	{"csv.Config.Separator", func(c *Config) { c.Data.Format, c.Data.CSV = FormatCSV, csv.Config{Separator: "|"} }},
	{"SGD.LearningRate", func(c *Config) { // the rate of plain SGD is a product, which overflows
		c.SGD.Plain, c.SGD.InitialT, c.SGD.PowerT = true, option.Some[float32](1e38), option.Some[float32](3)
	}},
	{"FTRL.Rule", func(c *Config) { c.FTRL.Rule = 200 }},
	{"Reg.SGDL2", func(c *Config) { c.Hybrid, c.Reg.SGDL2 = &Hybrid{SGDPasses: 1, LBFGSPasses: 2}, -1 }},
	{"OAA.Classes", func(c *Config) { c.OAA.Classes = -1 }},
	{"OAA.Subsample", func(c *Config) { c.OAA.Classes, c.OAA.Subsample = 3, -1 }},
	{"OAA.Indexing", func(c *Config) { c.OAA.Classes, c.OAA.Indexing = 3, option.Some(2) }},
	{"OAA.Indexing", func(c *Config) {
		c.OAA.Classes, c.OAA.NamedLabels, c.OAA.Indexing = 2, "a,b", option.Some(0)
	}},
	{"OAA.NamedLabels", func(c *Config) { c.OAA.Classes, c.OAA.NamedLabels = 3, "a,b" }},
	{"OAA.NamedLabels", func(c *Config) { c.OAA.Classes, c.OAA.NamedLabels = 2, "a,a" }},
	{"Hybrid", func(c *Config) { c.Hybrid = &Hybrid{SGDPasses: 1, LBFGSPasses: 1} }},
	{"Metrics.Measures", func(c *Config) { c.Metrics.Measures = metric.Set{"beauty"} }},

	{"SGD.Hogwild", func(c *Config) { c.SGD.Hogwild, c.Batch.BFGS, c.Passes = 2, true, 2 }},
	{"SGD.Hogwild", func(c *Config) { c.SGD.Hogwild, c.OAA.Classes = 2, 3 }},
	{"SGD.Hogwild", func(c *Config) { c.SGD.Hogwild, c.FTRL.Rule = 2, ftrl.Coin }},
	{"SGD.Hogwild", func(c *Config) { c.SGD.Hogwild, c.Average.Aggregate = 2, "model" }},
	{"SGD.Hogwild", func(c *Config) { c.SGD.Hogwild, c.Reg.L1 = 2, 1e-6 }},
	{"SGD.Hogwild", func(c *Config) { c.SGD.Hogwild, c.Reg.L2 = 2, 1e-6 }},
	{"SGD.Hogwild", func(c *Config) { c.SGD.Hogwild, c.Data.PassLength = 2, 9 }},
	{"SGD.Hogwild", func(c *Config) { c.SGD.Hogwild, c.Data.Shuffle, c.Passes = 2, true, 2 }},
	{"SGD.Hogwild", func(c *Config) { c.SGD.Hogwild, c.Data.ClassWeights = 2, []ClassWeight{{Label: 1, Weight: 2}} }},
	{"SGD.Hogwild", func(c *Config) { c.SGD.Hogwild, c.Output.Audit = 2, io.Discard }},
	{"SGD.Hogwild", func(c *Config) {
		c.SGD.Hogwild, c.Cluster.Join = 2, &allreduce.Config{Total: 2, OnLoss: allreduce.Wait}
	}},
	{"SGD.Threads", func(c *Config) { c.SGD.Threads, c.SGD.Hogwild = 2, 2 }},
	{"SGD.Threads", func(c *Config) { c.SGD.Threads, c.SGD.Plain = 2, true }},
	{"SGD.Threads", func(c *Config) { c.SGD.Threads, c.Reg.SparseL2 = 2, 0.1 }},
	{"SGD.Threads", func(c *Config) { c.SGD.Threads, c.Reg.L2 = 2, 1e-6 }},
	{"SGD.Threads", func(c *Config) { c.SGD.Threads, c.OAA.Classes = 2, 3 }},
	{"SGD.Threads", func(c *Config) { c.SGD.Threads, c.Average.Aggregate = 2, "model" }},
	{"SGD.Threads", func(c *Config) {
		c.SGD.Threads, c.Cluster.Join = 2, &allreduce.Config{Total: 2, OnLoss: allreduce.Wait}
	}},
	{"Average.Every", func(c *Config) { c.SGD.Threads, c.Average.Every = 2, "0.1" }},
	{"Average.Every", func(c *Config) { c.Average.Every = "10" }},
	{"Malt.Graph", func(c *Config) { c.Malt.Graph = "all" }},
	{"Cluster.Join.Job.RunKey", func(c *Config) {
		c.Malt.Graph, c.Cluster.Join = "all", &allreduce.Config{Total: 2, OnLoss: allreduce.Wait}
	}},
	{"Cluster.Join.Elastic", func(c *Config) { c.Malt.Graph, c.Cluster.Join = "all", &allreduce.Config{Total: 2, Elastic: true} }},
	{"Data.Examples", func(c *Config) { c.Data.Examples, c.Cluster.Join = 9, &allreduce.Config{} }},
	{"Data.PassLength", func(c *Config) { c.Data.PassLength, c.Data.Shuffle = 9, true }},
	{"Model.SavePerPass", func(c *Config) { c.Hybrid, c.Model.SavePerPass = &Hybrid{SGDPasses: 1, LBFGSPasses: 2}, true }},
	{"Model.PreserveCounters", func(c *Config) {
		c.Model.Initial, c.Model.PreserveCounters, c.Cluster.Join = "m", true, &allreduce.Config{}
	}},
	{"OAA.Classes", func(c *Config) { c.OAA.Classes, c.Batch.BFGS, c.Passes = 3, true, 2 }},
	{"OAA.Classes", func(c *Config) { c.OAA.Classes, c.Loss.Binary = 3, true }},
	{"OAA.Classes", func(c *Config) { c.OAA.Classes, c.Features.Bits = 3, 1 }},
	{"FTRL.Rule=coin", func(c *Config) { c.FTRL.Rule, c.Cluster.Join = ftrl.Coin, &allreduce.Config{} }},
	{"FTRL.Rule=ftrl", func(c *Config) { c.FTRL.Rule, c.Batch.BFGS, c.Passes = ftrl.Proximal, true, 2 }},
	{"Model.InvertHash", func(c *Config) { c.Model.InvertHash, c.Data.Cache = "names", "cache" }},
	{"Output.Audit", func(c *Config) { c.Output.Audit, c.Cluster.Join = io.Discard, &allreduce.Config{} }},
	{"Model.InvertHash", func(c *Config) { c.Model.InvertHash, c.Batch.BFGS, c.Passes = "names", true, 2 }},
	{"TestOnly", func(c *Config) { c.TestOnly, c.Batch.BFGS, c.Model.Open = true, true, nil }},
	{"Hybrid", func(c *Config) { c.Hybrid, c.Batch.BFGS, c.Passes = &Hybrid{SGDPasses: 1, LBFGSPasses: 2}, true, 2 }},
	{"Reg.SGDL2", func(c *Config) { c.Reg.SGDL2 = 1 }},
	{"Batch.BFGS", func(c *Config) { c.Batch.BFGS = true }},
	{"Reg.Input", func(c *Config) { c.Reg.Input, c.Model.Initial = "r", "m" }},
	{"Reg.Input", func(c *Config) { c.Reg.Input, c.Hybrid = "r", &Hybrid{SGDPasses: 1, LBFGSPasses: 2} }},
	{"Metrics.Extra", func(c *Config) { c.Metrics.Extra, c.Hybrid = "e", &Hybrid{SGDPasses: 1, LBFGSPasses: 2} }},
	{"Metrics.Measures", func(c *Config) { c.Metrics.Measures = metric.Set{metric.LogLoss} }},
	{"Metrics.Measures", func(c *Config) { c.Metrics.Measures = metric.Set{metric.Accuracy} }},
	{"Metrics.Measures", func(c *Config) { c.Metrics.Measures, c.OAA.Classes = metric.Set{metric.AUC}, 3 }},
	{"Metrics.Measures", func(c *Config) { c.Metrics.Measures, c.OAA.Classes = metric.Set{metric.LogLoss}, 3 }},
	{"Holdout.Valid", func(c *Config) { c.Holdout.Valid, c.TestOnly = []Input{{Name: "v"}}, true }},
	{"Cluster.Join.Checkpoints", func(c *Config) {
		c.Cluster.Join, c.Output.Predictions, c.Passes = &allreduce.Config{Checkpoints: struct{ allreduce.Checkpoints }{}}, "p", 2
	}},
	{"Output.Create", func(c *Config) { c.Model.Final, c.Output.Create = "m", nil }},
	{"Model.ID", func(c *Config) { c.Model.Final, c.Model.ID = "m", "a\nb" }},
	{"Model.ID", func(c *Config) { c.Model.Readable, c.Model.ID = "m", strings.Repeat("x", 1<<16) }},
	{"model: 7", func(c *Config) { c.Model.Final, c.OAA = "m", longNames }}, // 70 kB of options
	{"model: 7", func(c *Config) { c.Model.InvertHash, c.OAA = "m", longNames }},
	{"LDA.LearnAlpha", func(c *Config) { c.Model.Final, c.LDA = "m", LDAConfig{Topics: maxLearned + 1, LearnAlpha: true} }},
	{"model: 8", func(c *Config) { // without the interactions the priors fit into a model
		c.Model.Final, c.LDA = "m", LDAConfig{Topics: maxLearned, LearnAlpha: true}
		c.Features.Namespaces.Interactions = slices.Repeat([]string{"abc"}, 1000)
	}},
	{"Model.Open", func(c *Config) { c.Reg.Input, c.Model.Open = "r", nil }},
}

// TestRoomOfAModel checks that options which do not fit into a model are accepted if no model is written, and that the
// largest options that fit are accepted.
func TestRoomOfAModel(t *testing.T) {
	for what, by := range map[string]func(*Config){
		"an ID without a model":     func(c *Config) { c.Model.ID = "a\nb" },
		"names without a model":     func(c *Config) { c.OAA = longNames },
		"the largest ID":            func(c *Config) { c.Model.Final, c.Model.ID = "m", strings.Repeat("x", 1<<16-1) },
		"the most learned priors":   func(c *Config) { c.Model.Final, c.LDA = "m", LDAConfig{Topics: maxLearned, LearnAlpha: true} },
		"more topics without those": func(c *Config) { c.Model.Final, c.LDA = "m", LDAConfig{Topics: 60_000} },
	} {
		c := valid()
		by(&c)
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// leaves returns the errors that err joins.
func leaves(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, leaves(e)...)
	}
	return all
}

// names reports whether a fault begins with the name of a field.
func (b broken) names(err error) bool {
	return strings.HasPrefix(strings.TrimPrefix(err.Error(), "learn.Config."), b.field)
}

// Each rule is reported with its field, and as the only fault.
func TestEachFaultNamesItsField(t *testing.T) {
	if c := valid(); c.Validate() != nil {
		t.Fatal(c.Validate())
	}
	for _, b := range slices.Concat(inGroups, beside) {
		c := valid()
		b.by(&c)
		if got := leaves(c.Validate()); len(got) != 1 || !b.names(got[0]) {
			t.Errorf("%s: got %q, want one fault of this field", b.field, got)
		}
	}
}

// Any set of independent faults is reported in full, and nothing else is.
func TestValidateReportsAllFaults(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, want := valid(), []broken(nil)
		for _, b := range inGroups {
			if rapid.Bool().Draw(t, b.field) {
				b.by(&c)
				want = append(want, b)
			}
		}
		got := leaves(c.Validate())
		if len(got) != len(want) {
			t.Fatalf("%d faults, want %d: %q", len(got), len(want), got)
		}
		for _, b := range want {
			if !slices.ContainsFunc(got, b.names) {
				t.Fatalf("no fault of %s in %q", b.field, got)
			}
		}
	})
}

// Validate takes any values: it returns faults or nil, and never panics.
func TestValidateNeverPanics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := valid()
		scramble(t, reflect.ValueOf(&c).Elem(), "Config")
		if c.Hybrid != nil {
			scramble(t, reflect.ValueOf(c.Hybrid).Elem(), "Hybrid")
		}
		_ = c.Validate()
	})
}

// scramble sets the settable fields of a struct to values at and beyond their limits.
func scramble(t *rapid.T, v reflect.Value, path string) {
	for i := range v.NumField() {
		field, path := v.Field(i), path+"."+v.Type().Field(i).Name
		if !field.CanSet() || !rapid.Bool().Draw(t, path+" changes") {
			continue
		}
		switch field.Kind() {
		case reflect.Struct:
			scramble(t, field, path)
		case reflect.Bool:
			field.SetBool(rapid.Bool().Draw(t, path))
		case reflect.Int, reflect.Int64:
			field.SetInt(int64(rapid.IntRange(-3, 40).Draw(t, path)))
		case reflect.Uint, reflect.Uint8, reflect.Uint32, reflect.Uint64:
			field.SetUint(uint64(rapid.IntRange(0, 255).Draw(t, path)))
		case reflect.Float32, reflect.Float64:
			field.SetFloat(rapid.SampledFrom([]float64{0, -1, 0.5, 1e38, math.Inf(1), math.NaN()}).Draw(t, path))
		case reflect.String:
			field.SetString(rapid.SampledFrom([]string{"", "a", "ab", "a,b", "logistic", "csv", `\x`, "\x00", "2"}).Draw(t, path))
		case reflect.Slice:
			if field.Type().Elem().Kind() == reflect.String {
				words := rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "ab", "abc", "auc", ":", `\x3`, "2", "a2", "+1"}), 0, 3).Draw(t, path)
				field.Set(reflect.ValueOf(words).Convert(field.Type()))
			}
		case reflect.Pointer:
			if field.Type() == reflect.TypeFor[*Hybrid]() {
				field.Set(reflect.ValueOf(&Hybrid{}))
			}
		case reflect.Func, reflect.Interface:
			field.SetZero()
		}
	}
}

// The groups can be checked without the rest, and the zero value of most has no fault.
func TestGroupsValidate(t *testing.T) {
	var c Config
	for name, group := range map[string]interface{ Validate() error }{
		"Holdout": &c.Holdout, "Features": &c.Features, "Namespaces": &c.Features.Namespaces, "SGD": &c.SGD, "FTRL": &c.FTRL,
		"Reg": &c.Reg, "Malt": &c.Malt, "Loss": &c.Loss, "OAA": &c.OAA, "Batch": &c.Batch, "Model": &c.Model, "Output": &c.Output,
		"Metrics": &c.Metrics, "Diagnostics": &c.Diagnostics, "Cluster": &c.Cluster,
		"Hybrid": &Hybrid{SGDPasses: 1, LBFGSPasses: 2}, "Data": &DataConfig{Cache: "cache"},
	} {
		if err := group.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := c.Data.Validate(); err == nil || !strings.Contains(err.Error(), "Data.Inputs") {
		t.Errorf("data without inputs: %v", err)
	}
}
