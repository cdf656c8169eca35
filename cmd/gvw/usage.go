// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/gvw-project/gvw/internal/cli"

// usageErrorf returns a fault of the command line.
func usageErrorf(format string, args ...any) error { return cli.Usagef(format, args...) }
