// SPDX-License-Identifier: Apache-2.0

package marginal

import "github.com/gvw-project/gvw/internal/fmath"

// expert is the record of a predictor that competes.
type expert struct {
	regret float32 // sum of the losses of the vote above those of the expert
	square float32 // sum of their squares
	weight float32 // in the vote
}

// learn adds the loss of the vote above that of the expert, for an example with the weight w.
func (e *expert) learn(regret, w float32) {
	e.regret += regret * w
	e.square += float32(regret*regret) * w
	e.weight = 0
	if gain := max(e.regret, 0); gain > 0 && e.square != 0 {
		scale := 3 * e.square
		e.weight = float32(2*gain) * fmath.Exp32(float32(gain*gain)/scale) / scale
	}
}

// vote is the mean of the experts' predictions by their weights.
type vote struct {
	sum    float32 // of the predictions times weights, then the mean
	loss   float32 // of the losses likewise
	means  float32 // weight of the means
	linear float32 // weight of the linear learner
}

// add adds the prediction of a mean, with its loss. The linear learner competes with each mean.
func (v *vote) add(p float32, e *[2]expert, loss float32) {
	v.sum += e[0].weight * p
	v.means += e[0].weight
	v.linear += e[1].weight
	v.loss += e[0].weight * loss
}

// end adds the prediction of the linear learner, and ends the vote. Without any weight the linear
// learner decides.
func (v *vote) end(p, loss float32) {
	if v.means+v.linear > 0 {
		v.sum += v.linear * p
	} else {
		v.linear, v.sum = 1, p
	}
	scale := 1 / (v.means + v.linear)
	v.sum *= scale
	v.loss = (v.loss + v.linear*loss) * scale
}
