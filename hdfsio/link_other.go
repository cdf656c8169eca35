// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package hdfsio

// planted is always false: this system has no world-writable directories.
func planted(string) bool { return false }
