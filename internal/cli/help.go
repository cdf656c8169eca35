// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"slices"
	"strings"
)

// HelpWidth is the width of help pages in columns.
const HelpWidth = 80

// WriteOptions writes the options by category, in the order of the table. If all is false,
// options that are not on the first screen (More) are listed by name only, on one line a
// category.
func WriteOptions(b *strings.Builder, specs []*Spec, all bool) {
	var categories []string
	for _, s := range specs {
		if !slices.Contains(categories, s.Category) {
			categories = append(categories, s.Category)
		}
	}
	for i, c := range categories {
		if all || i == 0 {
			b.WriteByte('\n') // the first screen has few lines
		}
		b.WriteString(c + ":\n")
		var more []string
		for _, s := range specs {
			switch {
			case s.Category != c:
			case s.More && !all:
				more = append(more, s.Spelled())
			default:
				writeOption(b, s, all)
			}
		}
		if len(more) > 0 {
			WriteWords(b, 2, 2, oneLine(more))
		}
	}
}

// oneLine returns as many of the names as fit on a line, and the number of the others.
func oneLine(names []string) string {
	line := ""
	for i, name := range names {
		rest := fmt.Sprintf(" and %d more", len(names)-i-1)
		if i == len(names)-1 {
			rest = ""
		}
		if 2+len(line)+1+len(name)+len(rest) > HelpWidth {
			return fmt.Sprintf("%s and %d more", line, len(names)-i)
		}
		line = strings.TrimPrefix(line+" "+name, " ")
	}
	return line
}

// writeOption writes an option with its help, which begins in a fixed column: on the next line
// if the name is too long.
func writeOption(b *strings.Builder, s *Spec, all bool) {
	name := "    "
	if s.Short != "" {
		name = "-" + s.Short + ", "
	}
	name += s.Spelled()
	switch {
	case s.Implied != "":
		name += "[=" + s.Arg + "]"
	case s.Arg != "":
		name += " " + s.Arg
	}
	help := s.Help
	if s.Def != "" {
		help += " (" + s.Def + ")"
	}
	if all && s.Choices != nil {
		help += " [" + strings.Join(s.Choices, ", ") + "]"
	}
	const column = 32
	fmt.Fprintf(b, "  %-*s", column-3, name)
	if len(name) > column-3 {
		fmt.Fprintf(b, "\n%*s", column-1, "")
	}
	WriteWords(b, 1, column, help)
}

// WriteWords writes words with a margin of first columns on this line and of rest columns on
// the next ones.
func WriteWords(b *strings.Builder, first, rest int, words string) {
	fmt.Fprintf(b, "%*s", first, "")
	at := rest // column; the caller has filled the line up to the margin
	for i, word := range strings.Fields(words) {
		switch {
		case i == 0:
		case at+1+len(word) > HelpWidth:
			fmt.Fprintf(b, "\n%*s", rest, "")
			at = rest
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += len(word)
	}
	b.WriteByte('\n')
}
