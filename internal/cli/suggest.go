// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"

	"github.com/gvw-project/gvw/internal/compat"
)

// unknown refuses a long option that is not in the table. The message has the most specific
// hint: an option of vw, the counterpart of another learner's option, the full name of an
// abbreviation, a similar name, or the command that has the option.
func (n *normaliser) unknown(spelled, name string) {
	if o, ok := compat.Find(name); ok && o.Class != compat.Works && !o.Accepted() {
		n.unsupported(spelled, o)
		return
	}
	if here := otherName(name); here != "" && n.learns() {
		n.fault("%s is no option: %s", spelled, here)
		return
	}
	var full []string
	for _, s := range n.flags.Specs {
		if strings.HasPrefix(s.Name, name) && name != "" {
			full = append(full, s.Spelled())
		}
	}
	switch best := n.closest(name); {
	case len(full) > 0:
		n.fault("%s: options cannot be abbreviated: write %s", spelled, strings.Join(full, " or "))
	case best != "":
		n.fault("%s is no option: did you mean %s?", spelled, best)
	default:
		for _, s := range n.flags.Table.Specs() {
			if s.Name == name {
				n.fault("%s is no option here: %s", spelled, n.flags.elsewhere(s))
				return
			}
		}
		n.fault("%s is no option; see gvw --help all", spelled)
	}
}

// unsupported refuses an option that vw has.
func (n *normaliser) unsupported(spelled string, o compat.Option) {
	text := spelled + " is a vw option that gvw does not support yet"
	if o.Class == compat.Refused {
		text = spelled + " is a vw option that gvw does not have"
	}
	if o.Remark != "" {
		text += ": " + o.Remark
	}
	n.fault("%s", text)
}

// closest returns the option whose name is closest to a misspelled one, or "" if all differ in
// more than a third of its letters.
func (n *normaliser) closest(name string) string {
	best, limit := "", max(1, len(name)/3)
	for _, s := range n.flags.Specs {
		if d := distance(name, s.Name); d <= limit {
			best, limit = s.Spelled(), d-1
		}
	}
	return best
}

// distance returns the least number of bytes to insert, delete, change or swap with their
// neighbour that turns a into b: the optimal string alignment distance. It keeps three rows of
// the table.
func distance(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	before, above, row := rows[0], rows[1], rows[2]
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, above, row = above, row, before
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
