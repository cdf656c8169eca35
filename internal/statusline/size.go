// SPDX-License-Identifier: Apache-2.0

package statusline

import (
	"io"
	"os"

	"github.com/vbauerster/mpb/v8/cwriter"
)

// Size returns the columns and rows of the terminal that w writes to: 80 and 24 if they are not known.
func Size(w io.Writer) (columns, rows int) {
	if f, ok := w.(*os.File); ok {
		columns, rows, _ = cwriter.GetSize(int(f.Fd())) // 0 or less with an error
	}
	if columns <= 0 {
		columns = 80
	}
	if rows <= 0 {
		rows = 24
	}
	return columns, rows
}

// Width returns a function that returns the current columns of the terminal that w writes to.
func Width(w io.Writer) func() int {
	return func() int {
		columns, _ := Size(w)
		return columns
	}
}
