// SPDX-License-Identifier: Apache-2.0

// Package plain escapes text from the network before it is printed.
//
// Another process chooses a run key, a host name or a reason. Printed unchanged,
// it could move the cursor, set the title of a terminal, forge a line of a
// log, or reverse the direction of the text around it.
package plain

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text returns s with every rune escaped, as in a Go string, that is not printable in
// the sense of unicode.IsPrint, and every byte that is not UTF-8. Text without such
// runes is returned as it is.
func Text(s string) string {
	i := strings.IndexFunc(s, unprintable)
	if i < 0 {
		return s
	}
	b := append(make([]byte, 0, len(s)+16), s[:i]...)
	for s = s[i:]; s != ""; {
		r, size := utf8.DecodeRuneInString(s)
		if unprintable(r) {
			quoted := strconv.AppendQuoteToASCII(nil, s[:size])
			b = append(b, quoted[1:len(quoted)-1]...)
		} else {
			b = append(b, s[:size]...)
		}
		s = s[size:]
	}
	return string(b)
}

// unprintable is also true for a byte that is not UTF-8, which decodes to utf8.RuneError. A
// genuine replacement character is escaped with it.
func unprintable(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }

// JSON returns a JSON text with the runes escaped that Text escapes, except line feeds. It means
// the same: such runes appear only within strings.
func JSON(text string) string {
	escapes := func(r rune) bool { return r != '\n' && unprintable(r) }
	if !strings.ContainsFunc(text, escapes) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case !escapes(r):
			b.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			b.WriteString(unit(0xd800 + r>>10))
			b.WriteString(unit(0xdc00 + r&0x3ff))
		default:
			b.WriteString(unit(r))
		}
	}
	return b.String()
}

// unit returns a UTF-16 code unit as JSON escapes it.
func unit(r rune) string {
	hex := strconv.FormatInt(int64(r), 16)
	return `\u` + strings.Repeat("0", 4-len(hex)) + hex
}
