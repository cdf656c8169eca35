// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package hdfsio

// planted is for systems with folders where all may write.
func planted(string) bool { return false }
