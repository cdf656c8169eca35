// SPDX-License-Identifier: Apache-2.0

// Package sgd is vw's online learner: stochastic gradient descent on a linear
// model, with vw's adaptive, normalised and importance-invariant updates.
//
//	cfg := sgd.Flags{Bits: 22}.Config() // vw's defaults for what was not given
//	l, err := loss.New("logistic")
//	lr, err := sgd.New(cfg, l)
//	for each pass {
//		for each example ex of batch b {
//			raw, p, loss := lr.Learn(b.FeaturesOf(ex), ex)
//		}
//		lr.EndPass()
//	}
//	lr.Materialize()
//	w := lr.Weights()
//
// # The update
//
// A prediction is p = Σ w·x, limited to [Learner.Range]. For an example with
// label y, weight h and a loss above 0, with g = dLoss/dp:
//
//	G += h·g²·x²                            adaptive
//	N  = max(N, |x|)                        normalised; a w that was learned on the old scale is rescaled
//	rate = G**-power_t · (N²)**(power_t-1)  each factor as the rule has it, 1 without
//	mult = sqrt(Σ h / Σ h·(x/N)²)           normalised: over all examples so far (for power_t = 0.5)
//	q = mult·Σ rate·x²                      what a step of 1 does to the prediction
//	u = loss.Update(p, y, eta·h, q)         invariant; else the plain step -eta·h·g
//	w += u·mult·rate·x
//
// Without Adaptive, eta is multiplied by t**-power_t, t being the weight of the
// examples so far, this one included. Normalized without Adaptive takes 1/N² for
// the rate, and no root for mult, when power_t is 0.5. See package loss for the
// invariant update. The rules combine freely; all three are vw's default.
//
// # State
//
// The floats of all weights ([Learner.Weights]) and a few numbers beside them
// ([Scalars]) are the whole state: a copy of both is a copy of the learner.
// When ranks average their weights, the Scalars stay each rank's own, as in vw.
//
// A caller that may need earlier weights while the learner continues gives it
// a [Past].
//
// Regularisation is lazy. The pending effects of l1 and l2 are kept in two numbers, which
// predictions include. [Learner.Materialize] applies them to the weights: call it
// before averaging, saving, or passing the weights to another solver.
//
// # One against all
//
// [Classes] are K such learners in one table, each telling one class from the
// others (package oaa):
//
//	lr, err := sgd.NewClasses(cfg, l, K)
//	scores := lr.Learn(b.FeaturesOf(ex), ex, class) // class from 0
//
// # Arithmetic
//
// It is vw's: float32, summed in the order of the features, with an exact
// square root, nothing fused. On the same examples the weights have the same
// bits as those of vw 9.11.9, until the C library's expf rounds the other way
// (about once in 1500 calls, one unit in the last place). Only for --invariant
// without other rules do they differ from the start, by as little: vw adds up its
// Σ x² by namespace.
//
// It differs from vw in one case: where g² is 0 although the loss is not (a soft
// label of the logistic loss, met exactly), vw steps by the rounding error of
// its update, along the rates of an earlier example; here nothing happens.
//
// # Cost
//
// An example takes three loops over its features: predict, accumulate, apply.
// Nothing is allocated. Only the first waits for memory, a cache line per feature,
// and its loads are independent of each other.
package sgd
