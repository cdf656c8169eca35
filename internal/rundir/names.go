// SPDX-License-Identifier: Apache-2.0

package rundir

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// maxKey is the limit of a key's length in a name, so that names stay far below the 255 bytes of
// file systems.
const maxKey = 150

// escape returns the directory name for a key. Different keys have different names.
func escape(key string) string {
	var b strings.Builder
	for i := range len(key) {
		switch c := key[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-', c == '.' && i > 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	if b.Len() <= maxKey {
		return b.String()
	}
	return fmt.Sprintf("%s%%-%x", b.String()[:maxKey-40], sha256.Sum256([]byte(key)))[:maxKey]
}
