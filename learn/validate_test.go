// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"strings"
	"testing"
)

func TestValidateReportsAllFaults(t *testing.T) {
	c := Config{
		Bits: 40, Passes: -1, HoldoutPeriod: -1, EarlyTerminate: -2, L2: -1, SGDL2: 1, Loss: "cubic", Link: "none",
		BFGS: true, Mem: -1, MemSet: true, Termination: -1, TerminationSet: true, FinalModel: "m",
		MinPrediction: 2, MinPredictionSet: true, MaxPrediction: 1, MaxPredictionSet: true,
	}
	err := c.Validate()
	if err == nil {
		t.Fatal("no fault found")
	}
	for _, want := range []string{
		"--bit_precision", "--passes", "--holdout_period", "--early_terminate", "--l2", "--sgd_l2", "--loss_function", "--link",
		"--bfgs", "--mem", "--termination", "--data", "Create", "--min_prediction",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no word of %s in:\n%v", want, err)
		}
	}
}

func TestValidateTakesTheDefaults(t *testing.T) {
	c := Config{Inputs: []Input{{Name: "x"}}}
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
