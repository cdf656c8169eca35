// SPDX-License-Identifier: Apache-2.0

// Package fstest holds a file system to what hdfsio.FS promises. One suite, for all:
//
//	func TestLocal(t *testing.T) {
//		fstest.Run(t, fstest.Config{FS: hdfsio.Local{}, Dir: t.TempDir()})
//	}
//
// Dir is an empty folder of the file system; what the suite makes there it does not
// remove. It is a library and no test, so that every package can have its file
// system tested, also on a real cluster.
package fstest
