// SPDX-License-Identifier: Apache-2.0

package hdfsio

import (
	"runtime"
	"strings"
)

// Escape returns a pattern for [FS.List] that matches only this name.
func Escape(name string) string {
	special := `*?[\`
	if runtime.GOOS == "windows" {
		special = `*?[` // there the backslash separates directories
	}
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case strings.IndexByte(special, c) < 0:
			b.WriteByte(c)
		case c == '\\':
			b.WriteString(`\\`)
		default:
			b.Write([]byte{'[', c, ']'})
		}
	}
	return b.String()
}
