// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package joinflags

// stopSelf is nil: this system cannot stop a process.
var stopSelf func()
