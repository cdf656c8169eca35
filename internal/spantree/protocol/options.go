// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"fmt"
	"strings"
)

// maxDiffs is the number of options that a refusal names.
const maxDiffs = 5

// DiffOptions describes the options that differ between two canonical texts. These are lists of
// words "name=value" or "name".
func DiffOptions(mine, theirs string) string {
	names, own := splitOptions(mine)
	others, job := splitOptions(theirs)
	var diffs []string
	for _, name := range names {
		switch v, ok := job[name]; {
		case !ok:
			diffs = append(diffs, own[name]+" is given only here")
		case v != own[name]:
			diffs = append(diffs, fmt.Sprintf("%s here, %s there", own[name], v))
		}
	}
	for _, name := range others {
		if _, ok := own[name]; !ok {
			diffs = append(diffs, job[name]+" is missing here")
		}
	}
	if len(diffs) == 0 {
		return "the same options in another order or spacing"
	}
	if more := len(diffs) - maxDiffs; more > 0 {
		diffs = append(diffs[:maxDiffs], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(diffs, "; ")
}

// splitOptions returns the names in their order, and the words by name. Words of a repeated option
// are joined.
func splitOptions(text string) (names []string, words map[string]string) {
	words = map[string]string{}
	for _, word := range strings.Fields(text) {
		name, _, _ := strings.Cut(word, "=")
		if old, again := words[name]; again {
			words[name] = old + " " + word // all values of a repeated option count as one
			continue
		}
		names = append(names, name)
		words[name] = word
	}
	return names, words
}
