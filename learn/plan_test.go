// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/optim/ftrl"
)

// A job that recovers from losses has up to three tables instead of one, and the record of
// changes of a pass. L-BFGS has two more vectors. The sums for 2^24 weights are by hand.
func TestPlanOfAJobThatRecovers(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		name     string
		onLoss   allreduce.OnLoss
		ranks    int
		bfgs     bool
		recovers bool
		want     uint64 // of tables, or of vectors but for the sums in float64
		state    uint64 // of a checkpoint
	}{
		{"sgd, wait", allreduce.Wait, 4, false, true, (832 + 80) * mib, 256 * mib},
		{"sgd, abort", allreduce.Abort, 4, false, false, (256 + 64) * mib, 256 * mib},
		{"sgd, one rank", allreduce.Wait, 1, false, false, 256 * mib, 256 * mib},
		{"l-bfgs, wait", allreduce.Wait, 4, true, true, (4 + 2*15 + 2) * 64 * mib, 33 * 64 * mib},
		{"l-bfgs, abort", allreduce.Abort, 4, true, false, (4 + 2*15) * 64 * mib, 33 * 64 * mib},
	} {
		cfg := Config{
			Data:     DataConfig{Inputs: []Input{textInput("x", "1 | a\n")}},
			Features: FeatureConfig{Bits: 24},
			Passes:   5,
			Holdout:  HoldoutConfig{Off: true},
			Batch:    BatchConfig{BFGS: c.bfgs},
			Cluster:  ClusterConfig{Join: &allreduce.Config{Server: "h:1", Job: allreduce.Job{UniqueID: 1}, Total: c.ranks, OnLoss: c.onLoss}},
		}
		p, err := cfg.Plan()
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		got := Total(p.Memory)
		for _, a := range p.Memory {
			if strings.Contains(a.What, "float64") || strings.Contains(a.What, "examples") {
				got -= a.Bytes
			}
		}
		if state := Total(p.State); state != c.state {
			t.Errorf("%s: a state of %d MiB, want %d", c.name, state/mib, c.state/mib)
		}
		if got != c.want || p.Recovers != c.recovers {
			t.Errorf("%s: %d MiB, recovers %t; want %d MiB, %t: %v", c.name, got/mib, p.Recovers, c.want/mib, c.recovers, p.Memory)
		}
	}
}

// Asynchronous training has tables besides those of SGD, which depend on what is sent.
func TestPlanOfAsynchronousTraining(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		malt  MaltConfig
		outer OuterConfig
		want  uint64 // MiB besides those of SGD
	}{
		{MaltConfig{Graph: "ring"}, OuterConfig{}, 64},
		{MaltConfig{Graph: "all", Send: "gradients"}, OuterConfig{}, 64 + 192},
		{MaltConfig{Graph: "all", Send: "deltas"}, OuterConfig{Rate: 0.5}, 64 + 192 + 128},
	} {
		cfg := Config{
			Data: DataConfig{Inputs: []Input{textInput("x", "1 | a\n")}}, Features: FeatureConfig{Bits: 24}, Malt: c.malt, Outer: c.outer,
			Cluster: ClusterConfig{Join: &allreduce.Config{Server: "h:1", Job: allreduce.Job{UniqueID: 1}, Total: 4}},
		}
		tables, err := cfg.Tables()
		if err != nil {
			t.Fatal(err)
		}
		if want := (256 + 64 + c.want) * mib; tables != want {
			t.Errorf("%+v: got %d MiB, want %d", c.malt, tables/mib, want/mib)
		}
		if p, err := cfg.Plan(); err != nil || !strings.HasSuffix(p.Method, "along graph "+c.malt.Graph) {
			t.Errorf("%+v: got %+v and %v", c.malt, p, err)
		}
	}
}

// A weight of the FTRL family takes four floats, that of --coin eight, also in a test
// unless classes are predicted and no model is written.
func TestPlanOfTheFTRLFamily(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		name   string
		cfg    Config
		method string
		want   uint64 // of the weights
	}{
		{"ftrl", Config{FTRL: FTRLConfig{Rule: ftrl.Proximal}}, "learn by Proximal-FTRL", 256 * mib},
		{"coin", Config{FTRL: FTRLConfig{Rule: ftrl.Coin}}, "learn by Coin Betting", 512 * mib},
		{"coin, classes", Config{FTRL: FTRLConfig{Rule: ftrl.Coin}, OAA: OAAConfig{Classes: 3}}, "learn by Coin Betting", 512 * mib},
		{"coin, test", Config{FTRL: FTRLConfig{Rule: ftrl.Coin}, TestOnly: true}, "predict", 512 * mib},
		{"coin, test of classes", Config{FTRL: FTRLConfig{Rule: ftrl.Coin}, OAA: OAAConfig{Classes: 3}, TestOnly: true}, "predict", 64 * mib},
		{"coin, test of classes that writes a model", Config{FTRL: FTRLConfig{Rule: ftrl.Coin}, OAA: OAAConfig{Classes: 3}, TestOnly: true, Model: ModelConfig{Final: "f"}}, "predict", 512 * mib},
	} {
		c.cfg.Output.Create = new(files).create
		c.cfg.Data.Inputs, c.cfg.Features.Bits = []Input{textInput("x", "1 | a\n")}, 24
		p, err := c.cfg.Plan()
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if p.Method != c.method || p.Memory[0].Bytes != c.want {
			t.Errorf("%s: %q with %d MiB, want %q with %d", c.name, p.Method, p.Memory[0].Bytes/mib, c.method, c.want/mib)
		}
		if tables, err := c.cfg.Tables(); err != nil || tables != c.want {
			t.Errorf("%s: tables of %d MiB, %v; want %d", c.name, tables/mib, err, c.want/mib)
		}
	}
}

// A plan has the number of weights of a file that the run loads, whichever option names it.
func TestPlanHasTheBitsOfLoadedFiles(t *testing.T) {
	header := model.Header{Bits: 20}
	var mask, prior bytes.Buffer
	if err := model.Write(&mask, &model.Regressor{Header: header, Weights: model.View{Data: make([]float32, 1<<20)}}); err != nil {
		t.Fatal(err)
	}
	if err := model.WriteRegularizer(&prior, &model.Regularizer{Header: header, Precision: make([]float32, 1<<20), Mean: make([]float32, 1<<20)}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		load func(*Config)
		file []byte
		want string // part of the error; "": none
	}{
		{"initial model", func(c *Config) { c.Model.Initial = "f" }, mask.Bytes(), ""},
		{"feature mask", func(c *Config) { c.Model.FeatureMask = "f" }, mask.Bytes(), ""},
		{"regularisers", func(c *Config) { c.Reg.Input = "f" }, prior.Bytes(), ""},
		{"a model as regularisers", func(c *Config) { c.Reg.Input = "f" }, mask.Bytes(), "load it with learn.Config.Model.Initial"},
		{"other bits", func(c *Config) { c.Reg.Input, c.Features.Bits = "f", 19 }, prior.Bytes(), "leave the option out"},
		{"only a part of a file", func(c *Config) { c.Reg.Input = "f" }, prior.Bytes()[:10], "regularisers f: "},
	} {
		cfg := Config{
			Data: DataConfig{Inputs: []Input{textInput("x", "1 | a\n")}}, Passes: 2, Holdout: HoldoutConfig{Off: true},
			Batch: BatchConfig{BFGS: true}, Model: ModelConfig{Open: opens(c.file)},
		}
		c.load(&cfg)
		p, err := cfg.Plan()
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got %v, want an error with %q", c.name, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got, want := p.State[0].Bytes, uint64(3*4<<20); got != want {
			t.Errorf("%s: a state of %d bytes, want %d", c.name, got, want)
		}
	}
}
