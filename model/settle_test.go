// SPDX-License-Identifier: Apache-2.0

package model

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Settle computes the weights that predictions use, for every layout of slots.
func TestSettleAppliesTheStates(t *testing.T) {
	weights := func() View {
		return View{Data: []float32{1, 7, -1, 8, 0.25, 9, 0, 10}, Stride: 2, Slots: []int{0, 1}}
	}
	r := Regressor{Resume: &Resume{Gravity: 0.5, Contraction: 0.25, T: 3}, Weights: weights()}
	if r.Resume.Settled() {
		t.Error("l1_state 0.5 counts as settled")
	}
	r.Settle()
	want := Regressor{Resume: &Resume{Contraction: 1, T: 3}, Weights: View{Data: []float32{0.125, 7, -0.125, 8, 0, 9, 0, 10}, Stride: 2, Slots: []int{0, 1}}}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	r.Settle()
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("the second time, -want +got:\n%s", diff)
	}
	plain := Regressor{Weights: weights()}
	plain.Settle()
	if diff := cmp.Diff(weights(), plain.Weights); diff != "" {
		t.Errorf("a model without state, -want +got:\n%s", diff)
	}
	r = Regressor{Resume: &Resume{Gravity: 0.5, Contraction: 0.25}, Weights: weights()}
	r.ForPrediction()
	if diff := cmp.Diff(want.Weights, r.Weights); diff != "" || r.Resume != nil {
		t.Errorf("for prediction, -want +got:\n%s", diff)
	}
}
