// SPDX-License-Identifier: Apache-2.0

package hdfsio

import (
	"runtime"
	"strings"
)

// Escape makes a pattern for [FS.List] that matches this name alone.
func Escape(name string) string {
	special := `*?[\`
	if runtime.GOOS == "windows" {
		special = `*?[` // the backslash separates folders there
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
