// SPDX-License-Identifier: Apache-2.0

package manual

import (
	"fmt"
	"strings"

	"github.com/gvw-project/gvw/internal/cli"
)

// Page is a manual page.
type Page struct {
	Name string // name of its file, such as gvw-run.1
	Text []byte // in the language of man(7)
}

// Pages returns the pages of the program and of its commands. The date is empty or a day, such as
// 2026-11-23.
func (p *Program) Pages(version, date string) []Page {
	var pages []Page
	for _, c := range p.all() {
		title := p.title(&c)
		var b strings.Builder
		fmt.Fprintf(&b, ".\\\" Generated from the table of options: do not edit.\n.TH %s %d \"%s\" %s\n.ad l\n.nh\n",
			escape(strings.ToUpper(title)), p.Section, date, quote(p.Name+" "+version))
		fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", escape(title), escape(c.Summary))
		p.synopsis(&b, &c)
		if c.Before != "" {
			b.WriteString(".SH DESCRIPTION\n")
			prose(&b, c.Before)
		}
		options(&b, &c)
		if c.After != "" {
			b.WriteString(".SH NOTES\n")
			prose(&b, c.After)
		}
		if c.Name == "" && len(p.Commands) > 0 {
			b.WriteString(".SH COMMANDS\n")
			for _, c := range p.Commands {
				fmt.Fprintf(&b, ".TP\n.BR %s (%d)\n%s\n", escape(p.title(&c)), p.Section, escape(c.Summary))
			}
		}
		if c.Env {
			b.WriteString(".SH ENVIRONMENT\nAn option that the command line lacks is taken from the variable GVW_ and its name in upper case: GVW_")
			b.WriteString(escape(strings.ToUpper(c.Options[0].Name)) + " sets " + bold(c.Options[0].Spelled()) + ".\n")
		}
		if c.Name != "" {
			fmt.Fprintf(&b, ".SH SEE ALSO\n.BR %s (%d)\n", escape(p.Name), p.Section)
		}
		pages = append(pages, Page{fmt.Sprintf("%s.%d", title, p.Section), []byte(b.String())})
	}
	return pages
}

// title returns the name of a command's page.
func (p *Program) title(c *Command) string {
	if c.Name == "" {
		return p.Name
	}
	return p.Name + "-" + c.Name
}

func (p *Program) synopsis(b *strings.Builder, c *Command) {
	b.WriteString(".SH SYNOPSIS\n" + bold(strings.TrimSpace(p.Name+" "+c.Name)))
	if len(c.Words) > 0 {
		b.WriteString(" " + bold(strings.Join(c.Words, "|")))
	}
	if len(c.Options) > 0 {
		b.WriteString(" [\\fIOPTIONS\\fR]")
	}
	if c.Rest {
		b.WriteString(" " + bold("--") + " [\\fIARGUMENTS\\fR]")
	}
	b.WriteByte('\n')
	if c.Name == "" && len(p.Commands) > 0 {
		b.WriteString(".br\n" + bold(p.Name) + " \\fICOMMAND\\fR [\\fIARGUMENTS\\fR]\n")
	}
}

// options writes the options by category, in the order of the table.
func options(b *strings.Builder, c *Command) {
	if len(c.Options) == 0 {
		return
	}
	b.WriteString(".SH OPTIONS\n")
	done := map[string]bool{}
	for _, first := range c.Options {
		if done[first.Category] {
			continue
		}
		done[first.Category] = true
		fmt.Fprintf(b, ".SS %s\n", quote(first.Category))
		for _, s := range c.Options {
			if s.Category == first.Category {
				option(b, s)
			}
		}
	}
}

func option(b *strings.Builder, s *cli.Spec) {
	b.WriteString(".TP\n")
	if s.Short != "" {
		b.WriteString(bold("-"+s.Short) + ", ")
	}
	b.WriteString(bold(s.Spelled()))
	switch {
	case s.Implied != "":
		b.WriteString("[=\\fI" + escape(s.Arg) + "\\fR]")
	case s.Arg != "":
		b.WriteString(" \\fI" + escape(s.Arg) + "\\fR")
	}
	text := s.Help
	if s.Def != "" {
		text += " (" + s.Def + ")"
	}
	if len(s.Choices) > 0 {
		text += " [" + strings.Join(s.Choices, ", ") + "]"
	}
	fmt.Fprintf(b, "\n%s\n", escape(text))
}

// prose writes paragraphs, and lines that begin with two blanks as they are.
func prose(b *strings.Builder, text string) {
	example, gap := false, true // the heading has a gap below it
	for line := range strings.Lines(strings.TrimLeft(text, "\n")) {
		line = strings.TrimRight(line, " \n")
		switch indented := strings.HasPrefix(line, "  "); {
		case line == "":
			gap = false
			continue
		case indented && !example:
			b.WriteString(".PP\n.nf\n")
			example = true
		case !indented && example:
			b.WriteString(".fi\n.PP\n")
			example = false
		case !gap && !example:
			b.WriteString(".PP\n")
		case !gap:
			b.WriteString(".sp\n")
		}
		gap = true
		b.WriteString(escape(line) + "\n")
	}
	if example {
		b.WriteString(".fi\n")
	}
}

// escape returns text for a page: without characters that have a meaning to the formatter.
func escape(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "^", `\(ha`, "~", `\(ti`, "`", `\(ga`, "'", `\(aq`).Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}

func bold(text string) string { return `\fB` + escape(text) + `\fR` }

// quote returns text as one argument of a request.
func quote(text string) string { return `"` + strings.ReplaceAll(escape(text), `"`, `""`) + `"` }
