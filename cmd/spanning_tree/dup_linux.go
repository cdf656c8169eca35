// SPDX-License-Identifier: Apache-2.0

package main

import "golang.org/x/sys/unix"

// duplicate makes the descriptor to another name of from; some Linux ports have no dup2.
func duplicate(from, to int) error { return unix.Dup3(from, to, 0) }
