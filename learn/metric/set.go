// SPDX-License-Identifier: Apache-2.0

package metric

import (
	"fmt"
	"slices"
	"strings"
)

// The measures, by the names that users write.
const (
	LogLoss     = "logloss"
	Accuracy    = "accuracy"
	AUC         = "auc"
	AUPRC       = "auprc"
	RMSE        = "rmse"
	Calibration = "calibration"
)

// Names lists all measures, in the order in which they are printed.
var Names = []string{LogLoss, Accuracy, AUC, AUPRC, RMSE, Calibration}

// Set is a set of measures, in the order of Names.
type Set []string

// Parse parses names that are separated by commas. The set has the order of Names.
func Parse(text string) (Set, error) {
	var set Set
	given := strings.Split(text, ",")
	for _, name := range given {
		if !slices.Contains(Names, name) {
			return nil, fmt.Errorf("%q is not one of %s (several: with commas between them)", name, strings.Join(Names, ", "))
		}
	}
	for _, name := range Names {
		if slices.Contains(given, name) {
			set = append(set, name)
		}
	}
	return set, nil
}

// Has reports whether a measure is in the set.
func (s Set) Has(name string) bool { return slices.Contains(s, name) }

// Probabilities returns the measures that need the probability of an example to
// be positive.
func (s Set) Probabilities() Set { return s.among(LogLoss, Calibration) }

// Single returns the measures that need one score an example: they have no
// meaning where one of several classes is chosen.
func (s Set) Single() Set { return s.among(AUC, AUPRC, RMSE, Calibration) }

// Signs returns the measures that need a score whose sign is the class.
func (s Set) Signs() Set { return s.among(Accuracy) }

// among returns the measures of s that are among names.
func (s Set) among(names ...string) Set {
	var in Set
	for _, name := range s {
		if slices.Contains(names, name) {
			in = append(in, name)
		}
	}
	return in
}
