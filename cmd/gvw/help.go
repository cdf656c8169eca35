// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
)

const helpWidth = 80

// learnHelp is the first screen of help, or with all every option.
func learnHelp(all bool) string {
	var b strings.Builder
	b.WriteString("gvw learns linear models as Vowpal Wabbit does, on one machine or a cluster.\n\n" +
		"  gvw -d train.vw -f model [OPTIONS]           train\n" +
		"  gvw -d test.vw -t -i model -p predictions    predict\n" +
		"  gvw run -n 4 -- -d train.vw -f model ...     train with 4 processes\n" +
		"  gvw inspect | diff | convert                 look at models\n" +
		"  gvw allreduce | doctor | topo | keygen       sums, network, schedules, keys\n" +
		"  gvw supervise | jobs | cancel | faults       restart ranks, end jobs, rehearse\n" +
		"  gvw bench | mapper | hadoop | version | help [all]\n")
	writeOptions(&b, learnFlags, all)
	if all {
		b.WriteString("\nEach option is also set by the environment (GVW_BIT_PRECISION=20); the command\n" +
			"line comes first. @FILE reads arguments from FILE. Names may be written with\n" +
			"dashes. Files that end in .gz, .zst or .bz2 are decompressed.\n")
	} else {
		b.WriteString("\nEvery option and its default: gvw --help all. Several processes: gvw run --help.\n")
	}
	b.WriteString("Exit codes: 0 done, 1 usage, 2 data, 3 peer lost, 4 deadline, 5 input or output,\n" +
		"6 refused, 130 and 143 interrupted.\n")
	return b.String()
}

// runHelp is the help of gvw run.
func runHelp() string {
	var b strings.Builder
	b.WriteString("gvw run trains with several processes on this machine, server included.\n\n" +
		"  gvw run -n 4 -- -d train.vw -f model --hybrid 2:20\n" +
		"  gvw run -n 4 -- -d 'part.{rank}' -f model -p 'predictions.{rank}'\n" +
		"  gvw run -n 4 -- ./program ARGS     any program of package allreduce\n")
	writeOptions(&b, launchFlags, true)
	b.WriteString("\nOf the learner's options these may stand here as well:\n")
	var shared []string
	for _, s := range sharedFlags {
		shared = append(shared, s.spelled())
	}
	writeWords(&b, 2, 2, strings.Join(shared, " "))
	b.WriteString("\nAfter -- stand the learner's options (gvw --help). {rank} in a file name is each\n" +
		"process's number, from 0. Without it the data is shared out, rank 0 writes the\n" +
		"model, predictions are put together in the order of the data, and caches get the\n" +
		"rank appended. A program finds its place in the job in its environment:\n" +
		"docs/allreduce.md lists the variables.\n")
	return b.String()
}

// help is the tool's help.
func (t *tool) help() string {
	var b strings.Builder
	b.WriteString("gvw " + t.name + " " + t.does + ".\n\n  " + t.usage() + " [OPTIONS]\n")
	writeOptions(&b, t.specs, true)
	b.WriteString("\n" + t.more)
	return b.String()
}

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

// version is what the build knows about itself.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "gvw (no build information)"
	}
	v := info.Main.Version
	if v == "" {
		v = "(devel)"
	}
	s := "gvw " + v + " " + info.GoVersion
	for _, kv := range info.Settings {
		if kv.Key == "vcs.revision" {
			s += " " + kv.Value[:min(12, len(kv.Value))]
		}
	}
	return s + "\nwrites and reads models of Vowpal Wabbit 9.11.9"
}
