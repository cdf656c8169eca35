// SPDX-License-Identifier: Apache-2.0

package background

import "golang.org/x/sys/unix"

// duplicate makes descriptor to a duplicate of from. Some Linux ports have no dup2.
func duplicate(from, to int) error { return unix.Dup3(from, to, 0) }
