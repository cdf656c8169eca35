// SPDX-License-Identifier: Apache-2.0

package cli

import "github.com/urfave/cli/v2"

// Context has the typed values of the options of a command line. It is an alias, so that only
// this package imports urfave/cli.
type Context = cli.Context

// ActionFunc runs a command with the values of its options.
type ActionFunc = cli.ActionFunc
