// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"io"

	urfave "github.com/urfave/cli/v2"
)

// Dispatch calls action with typed values of the options. It uses urfave/cli only to convert
// the canonical arguments: help, error messages and exit codes come from this package.
func (s *Settings) Dispatch(ctx context.Context, action ActionFunc) error {
	app := &urfave.App{
		Name:                      "gvw",
		Flags:                     cliFlags(s.Flags.Specs),
		Action:                    action,
		HideHelp:                  true,
		HideVersion:               true,
		DisableSliceFlagSeparator: true,
		Writer:                    io.Discard,
		ErrWriter:                 io.Discard,
		ExitErrHandler:            func(*urfave.Context, error) {},
		OnUsageError: func(_ *urfave.Context, err error, _ bool) error {
			// Parse has checked all values, so urfave accepts the canonical arguments.
			return fmt.Errorf("BUG: canonical arguments are refused: %w", err)
		},
	}
	return app.RunContext(ctx, append([]string{"gvw"}, s.Args()...))
}

// cliFlags returns urfave's flags. Their values are canonical: numbers in base 10, durations
// with a unit.
func cliFlags(specs []*Spec) []urfave.Flag {
	flags := make([]urfave.Flag, len(specs))
	for i, s := range specs {
		usage, names := s.Help, []string{s.Name}
		switch s.Kind {
		case Boolean:
			flags[i] = namedFlag{&urfave.BoolFlag{Name: s.Name, Category: s.Category, Usage: usage}, names}
		case Integer:
			flags[i] = namedFlag{&urfave.Uint64Flag{Name: s.Name, Category: s.Category, Usage: usage}, names}
		case Float:
			flags[i] = namedFlag{&urfave.Float64Flag{Name: s.Name, Category: s.Category, Usage: usage}, names}
		case Duration:
			flags[i] = namedFlag{&urfave.DurationFlag{Name: s.Name, Category: s.Category, Usage: usage}, names}
		default:
			if s.Kind == List || s.Repeat {
				flags[i] = namedList{&urfave.StringSliceFlag{Name: s.Name, Category: s.Category, Usage: usage}, names}
			} else {
				flags[i] = namedFlag{&urfave.StringFlag{Name: s.Name, Category: s.Category, Usage: usage}, names}
			}
		}
	}
	return flags
}

// namedFlag is a flag that keeps its names. The flags of urfave compute theirs with a
// regular expression at each call, and a look-up of one flag calls all of them.
type namedFlag struct {
	urfave.Flag
	names []string
}

func (f namedFlag) Names() []string { return f.names }

// namedList is a namedFlag of several values. It embeds the concrete type, since urfave finds
// by its methods that values must not be split at commas.
type namedList struct {
	*urfave.StringSliceFlag
	names []string
}

func (f namedList) Names() []string { return f.names }
