// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package transport

import "runtime"

// Yield lets other threads run.
func Yield() { runtime.Gosched() }
