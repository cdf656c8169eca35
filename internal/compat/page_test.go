// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"fmt"
	"strings"
)

// sections are the classes in the order of the page, with their descriptions.
var sections = []struct {
	class Class
	title string
	text  string
}{
	{Works, "Works", "As in vw, except for the remark."},
	{Silent, "Silent", "Accepted without a word: nothing is lost."},
	{Noted, "Noted", "Accepted with one note on stderr: vw ignores them, too."},
	{Later, "Later", "Refused today, with exit code 1: \"does not support yet\"."},
	{Refused, "Refused", "Refused by name, with exit code 1 and the words in the last column."},
}

// Page returns the text of docs/compatibility.md.
func Page() []byte {
	count := map[Class]int{}
	for _, o := range options() {
		count[o.Class]++
	}
	var b strings.Builder
	b.WriteString("# Options of vw\n\n" +
		"<!-- Written by: go test ./internal/compat -update -->\n\n")
	fmt.Fprintf(&b, "gvw knows all %d options of Vowpal Wabbit 9.11.9, and %d that only vw's program has\n"+
		"(group %s), by vw's names. Names may be written with dashes or underscores; an\n"+
		"unknown one gets a suggestion. Options that only gvw has are in `gvw --help all`.\n\n"+
		"The rule: gvw refuses an option of vw only if the result would differ from vw's.\n"+
		"An option that has no effect in vw is accepted: silently where scripts share\n"+
		"options, with one note on stderr where the user has probably forgotten something.\n"+
		"[Options beside others](#options-beside-others) lists the cases.\n\n"+
		"| | options |\n|---|---|\n", len(options())-len(driver[0].rows), len(driver[0].rows), Driver)
	for _, s := range sections {
		fmt.Fprintf(&b, "| [%s](#%s) | %d |\n", strings.ToLower(s.title), strings.ToLower(s.title), count[s.class])
	}
	for _, s := range sections {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| vw has it under | option | remark |\n|---|---|---|\n", s.title, s.text)
		writeRows(&b, s.class)
	}
	b.WriteString(caseText)
	for _, class := range []Class{Silent, Noted, Refused} {
		for _, c := range Cases() {
			if c.Class == class {
				c.writeRow(&b)
			}
		}
	}
	return []byte(b.String())
}

// writeRows writes the rows of a class. Consecutive options of one group that are refused
// with the same remark share a row.
func writeRows(b *strings.Builder, class Class) {
	var group, remark string
	var names []string
	flush := func() {
		if len(names) > 0 {
			fmt.Fprintf(b, "| %s | %s | %s |\n", group, strings.Join(names, ", "), strings.ReplaceAll(remark, "|", `\|`))
		}
		names = nil
	}
	for _, o := range options() {
		if o.Class != class {
			continue
		}
		if class != Refused && class != Noted || o.Group != group || o.Remark != remark {
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

const caseText = `
## Options beside others

An option that works, with a value or beside others: accepted silently, accepted with
one note on stderr, or refused with exit code 1. All other combinations behave as in vw.
At -i, a case that depends on what the model brings along is decided when it is read.

| option | condition | | gvw |
|---|---|---|---|
`

// writeRow writes the row of a case.
func (c *Case) writeRow(b *strings.Builder) {
	var conditions []string
	if c.Value != "" {
		conditions = append(conditions, "value "+code(c.Value))
	}
	for requirement := range strings.FieldsSeq(c.With) {
		conditions = append(conditions, "with "+codeList(alternatives(requirement)))
	}
	if c.Without != "" {
		conditions = append(conditions, "without "+codeList(strings.Fields(c.Without)))
	}
	var names []string
	for name := range strings.FieldsSeq(c.Options) {
		names = append(names, code("--"+name))
	}
	row := fmt.Sprintf("%s | %s | %v | %s", strings.Join(names, ", "), strings.Join(conditions, ", "), c.Class, c.Text)
	fmt.Fprintf(b, "| %s |\n", row)
}

// codeList returns the terms of a case in the font of code, joined by "or".
func codeList(terms []string) string {
	var list []string
	for _, t := range terms {
		name, rest := cutTerm(t)
		if rest != "" {
			rest = " " + strings.TrimPrefix(rest, "=")
		}
		list = append(list, code("--"+name+rest))
	}
	return strings.Join(list, " or ")
}

// code returns text in the font of code, for a table of Markdown.
func code(text string) string { return "`" + strings.ReplaceAll(text, "|", `\|`) + "`" }
