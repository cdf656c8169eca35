// SPDX-License-Identifier: Apache-2.0

// Package fstest tests a file system against the contract of hdfsio.FS. All use one suite:
//
//	func TestLocal(t *testing.T) {
//		fstest.Run(t, fstest.Config{FS: hdfsio.Local{}, Dir: t.TempDir()})
//	}
//
// Dir is an empty directory of the file system; the suite does not remove the files that it
// makes there. The suite is a library, so that each package can test its file system,
// also on a real cluster.
package fstest
