// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"strings"
	"testing"

	"github.com/gvw-project/gvw/option"
)

func TestValidateReportsAllFaults(t *testing.T) {
	c := Config{
		Features: FeatureConfig{Bits: 40},
		Passes:   -1,
		Holdout:  HoldoutConfig{Period: -1, EarlyTerminate: -2},
		Reg:      RegConfig{L2: -1, SGDL2: 1},
		Loss:     LossConfig{Function: "cubic", Link: "none", MinPrediction: option.Some[float32](2), MaxPrediction: option.Some[float32](1)},
		Batch:    BatchConfig{BFGS: true, Mem: option.Some(-1), Termination: option.Some[float64](-1)},
		Model:    ModelConfig{Final: "m"},
	}
	err := c.Validate()
	if err == nil {
		t.Fatal("no fault found")
	}
	for _, want := range []string{
		"Features.Bits", "Passes", "Holdout.Period", "Holdout.EarlyTerminate", "Reg.L2", "Reg.SGDL2", "Loss.Function", "Loss.Link",
		"Batch.BFGS", "Batch.Mem", "Batch.Termination", "Data.Inputs", "Output.Create", "Loss.MinPrediction",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no word of %s in:\n%v", want, err)
		}
	}
}

func TestValidateTakesTheDefaults(t *testing.T) {
	c := Config{Data: DataConfig{Inputs: []Input{{Name: "x"}}}}
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	c.Hybrid = &Hybrid{SGDPasses: 1, LBFGSPasses: 2}
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	c.Hybrid.LBFGSPasses = 1
	if err := c.Validate(); err == nil {
		t.Error("one pass of L-BFGS was accepted")
	}
}
