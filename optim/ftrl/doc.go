// SPDX-License-Identifier: Apache-2.0

// Package ftrl is vw's family of learners that follow a regularised leader: a
// weight is computed from sums of gradients, and is not stepped.
//
//	cfg := ftrl.Config{Rule: ftrl.Proximal, Bits: 18, Alpha: 0.5, Beta: 1}
//	lr, err := ftrl.New(cfg, l)
//	raw, p, loss := lr.Learn(b.FeaturesOf(ex), ex)
//
// [Classes] are K such learners in one table, each telling one class from the others
// (package oaa).
//
// # The rules
//
// With g = h·dLoss/dp, and per weight the gradient G = g·x:
//
//	Proximal (--ftrl; McMahan and others, 2013), sums z, n:
//	  z += G - (√(n+G²) - √n)/α · w;  n += G²
//	  w = 0 if |z| ≤ l1, else -sign(z)·(|z| - l1) / (l2 + (β + √n)/α)
//	Pistol (--pistol; Orabona, 2014), sums z, s, the largest |x| m:
//	  before the prediction: m = max(m, |x|), t = 1/(α·m·(s + m))
//	                         w = √s·β·z·e**(z²·t/2)·t
//	  after it:              z -= G;  s += |G|
//	Coin (--coin; Orabona and Tommasi, 2017), sums z, s, wealth, the largest |x| m
//	and the largest |g| L:
//	  v = (α + wealth)/(L·m·(L·m + s))·z predicts Σ v·x / avg,
//	  avg = Σ h·Σ(x/m)² / Σ h over the examples so far
//	  then with the new m and L: w = v;  z -= G;  s += |G|;  wealth -= G·w;  w /= avg
//	FreeGrad (--freegrad; Mhammedi and Koolen, 2020), sums z, s, R, the first |G| h
//	and the largest one H, with G = x·dLoss/dp, of which h examples weigh:
//	  v = -z·ε·(2s + H|z|)·h²/(2·(s + H|z|)²·√s)·e**(z²/(2s + 2H|z|)) predicts Σ v·x
//	  then w = v;  G is clipped to H;  z += h·G;  s += h·G²;  R += h·|G|/H
//	  with Restart the sums begin again when H/h > R + 2, and with Project ‖v‖ is
//	  limited to Radius, or to ε·√(1 + Σ h·‖G‖ / the largest ‖G‖)
//
// # Contract
//
// The numbers are those of vw 9.11.9, its habits included. The weights of Pistol
// and FreeGrad are those of the features' last predictions: what an example changed
// shows when its features come again. Coin learns from the prediction of the sums, but
// the prediction returned, as vw prints it, is that of the weights before the
// example. That of Proximal and Coin is limited to the range of the labels before
// the example's own, [Learner].Shown. l1 and l2 apply only to Proximal.
//
// A weight has four floats (Coin and FreeGrad: eight), in vw's order; [Learner.Slots]
// are those that a model keeps. Weights and [Sums] are the whole state, but for
// FreeGrad's adaptive radius, which vw's models lack. There is no rule to average such
// weights over ranks, so the learner is for one process.
package ftrl
