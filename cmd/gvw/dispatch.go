// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"

	urfave "github.com/urfave/cli/v2"

	"github.com/gvw-project/gvw/internal/cli"
)

// dispatch calls action with typed values of the options, which urfave makes of their
// canonical form. Printing and exit codes stay ours.
func (s *settings) dispatch(ctx context.Context, action cli.ActionFunc) error {
	app := &urfave.App{
		Name:                      "gvw",
		Flags:                     cliFlags(s.flags.specs),
		Action:                    action,
		HideHelp:                  true,
		HideVersion:               true,
		DisableSliceFlagSeparator: true,
		Writer:                    io.Discard,
		ErrWriter:                 io.Discard,
		ExitErrHandler:            func(*urfave.Context, error) {},
		OnUsageError: func(_ *urfave.Context, err error, _ bool) error {
			// The normaliser lets nothing through that urfave would refuse.
			return fmt.Errorf("BUG: canonical arguments are refused: %w", err)
		},
	}
	return app.RunContext(ctx, append([]string{"gvw"}, s.args()...))
}
