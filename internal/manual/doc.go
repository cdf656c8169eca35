// SPDX-License-Identifier: Apache-2.0

// Package manual writes manual pages and shell completions of programs, from the tables of their
// options.
//
//	p := manual.FromTable("gvw", summary, table) // or FromHelp
//	text := p.Completion("bash")
//	for _, page := range p.Pages("v0.2.0", "2026-11-23") {
//		os.WriteFile(page.Name, page.Text, 0o644)
//	}
//
// A [Program] has its own options, and [Command]s with theirs. There is a page for the program,
// gvw.1, and one for each command, such as gvw-run.1. Completions know commands, options,
// the choices of a value, and which values are files. After "--" they complete the program's own
// options. The text depends only on the arguments, so that packages are reproducible.
package manual
