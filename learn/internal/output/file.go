// SPDX-License-Identifier: Apache-2.0

package output

import "io"

// File is a file that appears under its final name only when it is complete. In a job that replaces ranks, an attempt
// checks that it holds its rank before Commit; or directly before the file gets its name, if the file has the method of
// hdfsio.Conditional.
type File interface {
	io.Writer
	// Commit makes the file durable under its final name.
	Commit() error
	// Abort removes what was written. After Commit it does nothing.
	Abort() error
}
