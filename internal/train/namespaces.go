// SPDX-License-Identifier: Apache-2.0

package train

import (
	"github.com/gvw-project/gvw/internal/flags"
	"github.com/gvw-project/gvw/learn"
)

// CheckNamespaces checks a single value of an option on namespaces, so that the error is reported
// with the option that has it. It accepts the values of all other options.
func CheckNamespaces(name, value string) error {
	one := []string{value}
	var n learn.Namespaces
	switch name {
	case "quadratic":
		n.Quadratic = one
	case "cubic":
		n.Cubic = one
	case "interactions":
		n.Interactions = one
	case "redefine":
		n.Redefine = one
	case "ngram":
		n.NGrams = one
	case "skips":
		n.Skips, n.NGrams = one, []string{"2"} // skips are valid only with n-grams
	case "feature_limit":
		n.Limits = flags.Limits(one)
	case "affix":
		n.Affix = value
	case "spelling":
		n.Spelling = one
	default:
		return nil
	}
	return n.Check()
}
