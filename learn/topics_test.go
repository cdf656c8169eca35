// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"strings"
	"testing"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/learn/metric"
	"github.com/gvw-project/gvw/option"
)

// faultsOf returns the lines of the faults of a configuration.
func faultsOf(c Config) []string {
	if err := c.Validate(); err != nil {
		return strings.Split(err.Error(), "\n")
	}
	return nil
}

func TestFaultsOfTopics(t *testing.T) {
	for _, b := range []broken{
		{"LDA.Topics", func(c *Config) { c.LDA.Topics = 1 << 20 }},
		{"LDA.Alpha", func(c *Config) { c.LDA.Alpha = option.Some(float32(0)) }},
		{"LDA.LearnAlpha", func(c *Config) { c.LDA.Topics, c.LDA.LearnAlpha = maxLearned+1, true }},
		{"LDA.Rho", func(c *Config) { c.LDA.Rho = noNumber() }},
		{"LDA.Documents", func(c *Config) { c.LDA.Documents = -1 }},
		{"LDA.Epsilon", func(c *Config) { c.LDA.Epsilon = -1 }},
		{"LDA.Batch", func(c *Config) { c.LDA.Batch = -1 }},
		{"LDA.Arithmetic", func(c *Config) { c.LDA.Arithmetic = 3 }},
		{"SGD.PowerT", func(c *Config) { c.SGD.PowerT = option.Some(float32(-1)) }},
		{"Average.Aggregate", func(c *Config) { c.Average.Aggregate = aggregateGradient }},
		{"Average.Batch", func(c *Config) { c.Average = AverageConfig{Aggregate: aggregateModel, Batch: "4"} }},
		{"Average.Every", func(c *Config) { c.Average = AverageConfig{Aggregate: aggregateModel, Every: "random:0.5"} }},
		{"Outer.Rate", func(c *Config) { c.Average.Aggregate, c.Outer.Rate = aggregateModel, 2 }},
		{"Batch.BFGS", func(c *Config) { c.Batch.BFGS, c.Passes = true, 5 }},
		{"OAA.Classes", func(c *Config) { c.OAA.Classes = 3 }},
		{"Malt.Graph", func(c *Config) { c.Malt.Graph, c.Cluster.Join = "all", &allreduce.Config{Total: 2} }},
		{"Model.InvertHash", func(c *Config) { c.Model.InvertHash = "x" }},
		{"Model.HexWeights", func(c *Config) { c.Model.HexWeights = true }},
		{"Output.RawPredictions", func(c *Config) { c.Output.RawPredictions = "x" }},
		{"Metrics.Measures", func(c *Config) { c.Metrics.Measures = metric.Set{metric.RMSE} }},
	} {
		c := valid()
		c.LDA.Topics = 3
		if faults := faultsOf(c); faults != nil {
			t.Fatalf("without a fault: %q", faults)
		}
		b.by(&c)
		if faults := faultsOf(c); len(faults) != 1 || !strings.HasPrefix(faults[0], "learn.Config."+b.field+":") {
			t.Errorf("%s: got %q, want one fault of the field", b.field, faults)
		}
	}
}
