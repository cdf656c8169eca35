// SPDX-License-Identifier: Apache-2.0

// Package splines turns dense numeric features of vw's text into linear splines, so that a linear
// learner can follow curves.
//
// A value is first replaced by its place from 0 to 1 among the values of its feature in the training
// data, which no outlier moves. The place then becomes a point between two of a few knots that are
// evenly spaced: each knot is a feature, and the two next to the point have values that add up to 1.
//
//	var fit splines.Fit
//	err := fit.Add(line)               // for each line of the training data
//	basis, err := fit.Basis(3)         // with three knots a feature
//	out, err = basis.Append(out, line) // |f 7:12.5 becomes |f 7_1:0.4 7_2:0.6
//
// An absent feature has the value 0, as in vw. So the package is for dense data: a line has all
// features of the basis afterwards. Features that the training data did not have are left out.
package splines
