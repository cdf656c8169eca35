// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"fmt"
	"strings"
)

// sections are the classes in the order of the page, with what it says of them.
var sections = []struct {
	class Class
	title string
	text  string
}{
	{Works, "Works", "As in vw. A remark says where gvw differs."},
	{NoOp, "Accepted", "Taken so that old command lines run. They do nothing here, and one note on\nstderr says why nothing is lost."},
	{Later, "Later", "Refused today, with exit code 1: \"does not support yet\"."},
	{Refused, "Refused", "Refused by name, with exit code 1 and the words in the last column."},
}

// Page is docs/compatibility.md.
func Page() []byte {
	count := map[Class]int{}
	for _, o := range options {
		count[o.Class]++
	}
	var b strings.Builder
	b.WriteString("# Options of vw\n\n" +
		"<!-- Written by: go test ./internal/compat -update -->\n\n")
	fmt.Fprintf(&b, "gvw knows all %d options of Vowpal Wabbit 9.11.9, by vw's names. Names may be\n"+
		"written with dashes or underscores; an unknown one gets a suggestion. Options that\n"+
		"only gvw has are in `gvw --help all`.\n\n| | options |\n|---|---|\n", len(options))
	for _, s := range sections {
		fmt.Fprintf(&b, "| [%s](#%s) | %d |\n", strings.ToLower(s.title), strings.ToLower(s.title), count[s.class])
	}
	for _, s := range sections {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| vw has it under | option | remark |\n|---|---|---|\n", s.title, s.text)
		writeRows(&b, s.class)
	}
	return []byte(b.String())
}

// writeRows writes the rows of a class. Neighbours of one group that are refused
// with one remark share a row.
func writeRows(b *strings.Builder, class Class) {
	var group, remark string
	var names []string
	flush := func() {
		if len(names) > 0 {
			fmt.Fprintf(b, "| %s | %s | %s |\n", group, strings.Join(names, ", "), strings.ReplaceAll(remark, "|", `\|`))
		}
		names = nil
	}
	for _, o := range options {
		if o.Class != class {
			continue
		}
		if class != Refused || o.Group != group || o.Remark != remark {
			flush()
			group, remark = o.Group, o.Remark
		}
		name := "`--" + o.Name + "`"
		if o.Short != "" {
			name = "`-" + o.Short + "` " + name
		}
		names = append(names, name)
	}
	flush()
}
