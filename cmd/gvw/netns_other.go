// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package main

import (
	"context"

	"github.com/gvw-project/gvw/internal/cli"
)

func insideNamespace([]string) bool { return false }

func (p *program) inNamespace(context.Context) error {
	return cli.Usagef("--netns: only Linux has network namespaces")
}

func loopbackUp() error { return nil }
