// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package tools

import (
	"context"

	"github.com/gvw-project/gvw/internal/cli"
)

func insideNamespace([]string) bool { return false }

func inNamespace(context.Context, *cli.Process) error {
	return cli.Usagef("--netns: only Linux has network namespaces")
}

func loopbackUp() error { return nil }
