// SPDX-License-Identifier: Apache-2.0

package ranklog

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/gvw-project/gvw/internal/plain"
)

// MaxLine is the size of a line in bytes. A longer line ends in "…".
const MaxLine = 1024

// hidden replaces a secret.
const hidden = "…"

// The texts that may be secrets: the user and password of a URL, the value of a parameter, attribute or field whose name
// ends in one of these words, and the credentials of an HTTP header.
var (
	userinfo = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(://)[^/@\s"']+@`) })
	secret   = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b([a-z0-9_.-]*(?:token|secret|passw(?:or)?d|signature|credential|delegation|access_?key|api_?key)\\?"?\s*[=:]\s*(?:\\?")?)([^\s&"\\]+)`)
	})
	authorised = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\b((?:bearer|basic)\s+)[a-z0-9+/=._~-]{8,}`) })
)

// Clean returns a line as it may be kept: without secrets, printable, and with at most MaxLine bytes.
func Clean(line string) string {
	if strings.ContainsAny(line, "=@:") {
		line = userinfo().ReplaceAllString(line, "${1}"+hidden+"@")
		line = authorised().ReplaceAllString(line, "${1}"+hidden)
		line = secret().ReplaceAllString(line, "${1}"+hidden)
	}
	return printable(line)
}

// printable returns a line as it may be printed on a terminal, with at most MaxLine bytes.
func printable(line string) string { return clip(plain.Text(line)) }

// clip returns the beginning of a printable line.
func clip(s string) string {
	if len(s) <= MaxLine {
		return s
	}
	n := MaxLine - len("…")
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
