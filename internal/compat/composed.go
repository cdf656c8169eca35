// SPDX-License-Identifier: Apache-2.0

package compat

import "strings"

// composed are the options that enable learners of learn.LearnerConfig, with the value of an
// example. gvw composes one of them with SGD; vw also stacks them.
var composed = []struct{ name, value string }{
	{"lrq", "ab3"}, {"lrqfa", "ab2"}, {"nn", "3"}, {"new_mf", "2"}, {"rank", "2"}, {"bootstrap", "4"}, {"boosting", "3"}, {"stage_poly", ""}, {"marginal", "a"}, {"csoaa", "3"}, {"multilabel_oaa", "3"}, {"ect", "3"}, {"log_multi", "3"}, {"svrg", ""},
}

// ofClasses are those of these learners whose labels are not simple, by kind.
var ofClasses = map[string]string{"csoaa": "costs", "multilabel_oaa": "lists", "ect": "classes", "log_multi": "classes"}

// composedCases refuse the options that gvw's composed learners do not have.
func composedCases() []Case {
	var cases []Case
	for i, l := range composed {
		with := strings.TrimSpace("-d train.vw --" + l.name + " " + l.value)
		refuse := func(options, text, example string) {
			cases = append(cases, Case{Options: options, With: l.name, Class: Refused, Text: text, Example: example})
		}
		refuse("bfgs conjugate_gradient ftrl pistol coin freegrad lda", "gvw composes this learner of linear learners by SGD", with+" --ftrl")
		refuse("oaa", "gvw composes one learner at a time; "+useVW, with+" --oaa 3")
		refuse("audit invert_hash", "the features of the learner have no names", with+" --invert_hash i")
		refuse("classweight", "give the weights in the data instead", with+" --classweight 1:3")
		refuse("feature_mask", "only SGD by itself has a mask", "-d train.vw -f m --quiet ;; "+with+" --feature_mask m")
		if kind, ok := ofClasses[l.name]; ok {
			refuse("binary", "a class has no sign", with+" --binary")
			refuse("named_labels", "the labels of this learner are numbers", with+" --named_labels a,b,c")
			if kind != "classes" {
				refuse("json csv", "only vw's text has such labels", "-d train.json --json --"+l.name+" "+l.value)
				refuse("probabilities", "only --oaa predicts probabilities", with+" --probabilities")
			}
		}
		var others []string
		for _, o := range composed[i+1:] {
			others = append(others, o.name)
		}
		if len(others) > 0 {
			next := composed[i+1]
			refuse(strings.Join(others, " "), "gvw composes one learner at a time; "+useVW, strings.TrimSpace(with+" --"+next.name+" "+next.value))
		}
	}
	return cases
}

// useVW ends the text of a case for which vw is the remedy.
const useVW = "use vw for both"

// composedNames returns the options of composed learners, which a model file may contain.
func composedNames() []string {
	var names []string
	for _, l := range composed {
		names = append(names, l.name)
	}
	return names
}
