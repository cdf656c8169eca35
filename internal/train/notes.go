// SPDX-License-Identifier: Apache-2.0

package train

import (
	"errors"
	"slices"
	"strings"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/compat"
	"github.com/gvw-project/gvw/model"
)

// Note prints a line for each option that has less effect than the user may expect: options that
// gvw does not have, and options without effect beside the others. A note is no error: vw
// ignores these options silently, and scripts rely on that.
func Note(p *cli.Process, s *cli.Settings) {
	NoteExtra(p, s)
	if !noting(s) {
		return
	}
	for _, f := range compat.Judge(compat.Cases(), s.All, s.Has("initial_regressor")) {
		noteFinding(p, f)
	}
}

// NoteExtra prints the notes on options that gvw does not have.
func NoteExtra(p *cli.Process, s *cli.Settings) {
	if !noting(s) {
		return
	}
	for _, o := range s.Extra {
		if o.Class == compat.Noted {
			p.Note(cli.NoteLevel, "--"+o.Name+": "+o.Remark)
		}
	}
}

// noteFinding prints the note of a finding, if its class has one.
func noteFinding(p *cli.Process, f compat.Finding) {
	if f.Class == compat.Noted {
		p.Note(cli.NoteLevel, f.Shown+": "+f.Text)
	}
}

// TakeData makes the first word that no option took the data, as vw does, and prints a
// note on the files that are not read.
func TakeData(p *cli.Process, s *cli.Settings) {
	if unread := FirstWordIsData(s); len(unread) > 0 && noting(s) {
		p.Note(cli.NoteLevel, strings.Join(unread, ", ")+": not read, as in vw, which reads one file: give one -d for each file, and no file without")
	}
}

// noting reports whether notes are printed.
func noting(s *cli.Settings) bool {
	return cli.LogLevel(s.Has("quiet"), s.Get("log_level")) <= cli.NoteLevel
}

// checkLoaded returns a function that checks the command line together with the options that an
// initial model has. It reports only the cases that were left open before the model was read,
// so that no note appears twice.
func checkLoaded(p *cli.Process, c *cli.Context) func([]model.Option) error {
	// These cases depend on options of the command line only, and have been reported.
	before := compat.Judge(compat.Cases(), c.All, true)
	noting := cli.LogLevel(c.Bool("quiet"), c.String("log_level")) <= cli.NoteLevel
	return func(kept []model.Option) error {
		with := func(name string) []string {
			if values := c.All(name); len(values) > 0 || !slices.Contains(compat.Kept, name) {
				return values
			}
			var values []string
			for _, o := range kept {
				if o.Name == name {
					values = append(values, o.Value)
				}
			}
			return values
		}
		var faults []error
		for _, f := range compat.Judge(compat.Cases(), with, false) {
			switch {
			case slices.ContainsFunc(before, f.Same):
			case f.Class == compat.Refused:
				faults = append(faults, refusal(f, ""))
			case noting:
				noteFinding(p, f)
			}
		}
		return errors.Join(faults...)
	}
}
