// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
)

const helpWidth = 80

// writeOptions writes one line per option, by category. Without all, those off
// the first screen stand together, by name.
func writeOptions(b *strings.Builder, specs []*spec, all bool) {
	var categories []string
	for _, s := range specs {
		if !slices.Contains(categories, s.category) {
			categories = append(categories, s.category)
		}
	}
	for i, c := range categories {
		if all || i == 0 {
			b.WriteByte('\n') // the first screen has no lines to spare
		}
		b.WriteString(c + ":\n")
		var more []string
		for _, s := range specs {
			switch {
			case s.category != c:
			case s.more && !all:
				more = append(more, s.spelled())
			default:
				writeOption(b, s, all)
			}
		}
		if len(more) > 0 {
			writeWords(b, 2, 2, oneLine(more))
		}
	}
}

// oneLine is as many of the names as fit a line, and how many more there are.
func oneLine(names []string) string {
	line := ""
	for i, name := range names {
		rest := fmt.Sprintf(" and %d more", len(names)-i-1)
		if i == len(names)-1 {
			rest = ""
		}
		if 2+len(line)+1+len(name)+len(rest) > helpWidth {
			return fmt.Sprintf("%s and %d more", line, len(names)-i)
		}
		line = strings.TrimPrefix(line+" "+name, " ")
	}
	return line
}

func writeOption(b *strings.Builder, s *spec, all bool) {
	name := "    "
	if s.short != "" {
		name = "-" + s.short + ", "
	}
	name += s.spelled()
	if s.arg != "" {
		name += " " + s.arg
	}
	help := s.help
	if s.def != "" {
		help += " (" + s.def + ")"
	}
	if all && s.choices != nil {
		help += " [" + strings.Join(s.choices, ", ") + "]"
	}
	const column = 32
	fmt.Fprintf(b, "  %-*s", column-3, name)
	if len(name) > column-3 {
		fmt.Fprintf(b, "\n%*s", column-1, "")
	}
	writeWords(b, 1, column, help)
}

// writeWords writes words with a margin of first on this line and of rest on
// the next ones.
func writeWords(b *strings.Builder, first, rest int, words string) {
	fmt.Fprintf(b, "%*s", first, "")
	at := rest // where the line stands; the caller has filled it up to the margin
	for i, word := range strings.Fields(words) {
		switch {
		case i == 0:
		case at+1+len(word) > helpWidth:
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
