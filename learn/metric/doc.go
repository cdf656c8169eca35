// SPDX-License-Identifier: Apache-2.0

// Package metric measures predictions: log-loss, accuracy, AUC, auPRC, RMSE and
// calibration, each weighted by the examples' importance.
//
//	set, err := metric.Parse("logloss,auc")
//	sums := metric.NewSums(set)
//	for … {
//		sums.Add(metric.Case{Label: y, Weight: w, Score: s, Prediction: p, Probability: q})
//	}
//	group.AllReduce(ctx, sums.Vector(), sum)   // over a cluster
//	for _, v := range sums.Values() { … }      // v.Name, v.Value
//
// The sums are one vector of float64. The sum of the vectors of two sets of examples gives the
// measures of both together. So a cluster adds vectors, in a fixed order, and every rank reads
// the same values.
//
// # Definitions
//
// An example is positive if its label is above 0. All sums are weighted.
//
//	logloss      mean of -ln of the probability given to the truth, which is cut at 2^-52 from 0 and 1
//	accuracy     share of examples whose score is on their label's side of 0; a score of 0 is negative
//	auc          area under the ROC curve: the chance that a positive example scores above a negative one, ties counted half
//	auprc        average precision: Σ (recall - recall before)·precision, from the highest score down
//	rmse         root of the mean squared difference of prediction and label
//	calibration  expected calibration error: over ten bins of the probability, (0, 0.1] and so on,
//	             the mean difference between mean probability and share of positives; Curve has the bins
//
// A measure of no examples, or AUC without both classes, is NaN.
//
// Of examples with more classes than two, [Sums.AddChoice] counts what was chosen;
// two measures have a meaning there ([Set.Single] names the others):
//
//	logloss      mean of -ln of the probability given to the example's own class, which is cut at 2^-52 from 0 and 1
//	accuracy     share of examples whose own class was chosen
//
// # Contract
//
// AUC and auPRC come from histograms of 65,536 bins: scores that agree in sign
// and in their first 11 binary digits are taken as equal, as are those beyond
// ±65,536 and those of one sign within 2^-16 of 0. On real sets that changes
// either by less than 1e-3. Add allocates nothing. A score that is not a number
// makes every measure NaN: it is no prediction.
package metric
