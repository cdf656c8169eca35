// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package main

// stopSelf is nil: this system cannot stop a process.
var stopSelf func()
