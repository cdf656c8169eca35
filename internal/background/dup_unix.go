// SPDX-License-Identifier: Apache-2.0

//go:build unix && !linux

package background

import "golang.org/x/sys/unix"

// duplicate makes descriptor to a duplicate of from.
func duplicate(from, to int) error { return unix.Dup2(from, to) }
