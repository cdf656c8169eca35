// SPDX-License-Identifier: Apache-2.0

// Package oaa learns one against all: K learners share one table, and each learns to
// distinguish its class, label 1, from all others, label -1. The class with the highest score
// is the prediction. The learners are those of another package, which this one calls
// through [Base]:
//
//	classes, err := ftrl.NewClasses(cfg, l, K)
//	scores := classes.Learn(b.FeaturesOf(ex), ex, class) // class from 0
//
// # The table
//
// It has 2^b weights for all classes. With the width w, which is K rounded up to a power of
// two, the feature with index i has the weights i·w to i·w+K-1, modulo the table's size,
// as in vw. One pass over an example's features predicts all classes.
//
// # Contract
//
// [Learner.Learn] predicts all classes before any of them learns. The classes share the
// range of predictions, which follows their labels class by class, also from an example
// without weight. The scores are those before the updates. The numbers are those of vw
// 9.11.9. Nothing is allocated for an example.
package oaa
