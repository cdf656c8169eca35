// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	crand "crypto/rand"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// HostPort returns host:port, with IPv6 addresses in brackets.
func HostPort(host string, port uint16) string { return string(AppendHostPort(nil, host, port)) }

// AppendHostPort appends host:port to dst, with IPv6 addresses in brackets.
func AppendHostPort(dst []byte, host string, port uint16) []byte {
	host = strings.Trim(host, "[]")
	if strings.IndexByte(host, ':') >= 0 {
		dst = append(append(append(dst, '['), host...), ']')
	} else {
		dst = append(dst, host...)
	}
	return strconv.AppendUint(append(dst, ':'), uint64(port), 10)
}

// SetDefault sets *v to value if it is zero.
func SetDefault[T comparable](v *T, value T) {
	var zero T
	if *v == zero {
		*v = value
	}
}

// CheckText returns an error unless s is UTF-8 of at most limit bytes.
func CheckText(name, s string, limit int) error {
	if len(s) > limit {
		return fmt.Errorf("spantree: %s has %d bytes, the limit is %d", name, len(s), limit)
	}
	if toUTF8(s) != s {
		return fmt.Errorf("spantree: %s %q is not UTF-8", name, s)
	}
	return nil
}

// CheckFiles returns an error unless COMPLETE can have these names of files.
func CheckFiles(names []string) error {
	if len(names) > MaxFiles {
		return fmt.Errorf("spantree: a rank owes %d files, the limit is %d", len(names), MaxFiles)
	}
	for _, name := range names {
		if err := CheckText("the name of a file", name, maxFile); err != nil {
			return err
		}
	}
	return nil
}

// RanksOrNone returns "none", or the ranks as [Ranks] does.
func RanksOrNone(list []int) string {
	if len(list) == 0 {
		return "none"
	}
	return Ranks(list)
}

// Ranks returns "rank 3" or "ranks 1, 2, 5-9" for ranks in ascending order. After about 200 bytes
// it gives the total instead.
func Ranks(list []int) string {
	if len(list) == 1 {
		return fmt.Sprintf("rank %d", list[0])
	}
	var b strings.Builder
	b.WriteString("ranks")
	for i, sep := 0, " "; i < len(list); sep = ", " {
		last := i
		for last+1 < len(list) && list[last+1] == list[last]+1 {
			last++
		}
		if b.Len() > 200 {
			fmt.Fprintf(&b, ", … (%d in all)", len(list))
			break
		}
		b.WriteString(sep)
		switch last - i {
		case 0:
			fmt.Fprint(&b, list[i])
		case 1:
			fmt.Fprintf(&b, "%d, %d", list[i], list[last])
		default:
			fmt.Fprintf(&b, "%d-%d", list[i], list[last])
		}
		i = last + 1
	}
	return b.String()
}

// Random fills b with random bytes. It cannot fail: crypto/rand ends the program if the operating
// system has no randomness.
func Random(b []byte) { _, _ = crand.Read(b) }

// Clip returns s as valid UTF-8 of at most limit bytes. A longer text for people ends in "…".
func Clip(s string, limit int) string {
	s = toUTF8(s)
	if len(s) <= limit {
		return s
	}
	const dots = "…"
	s = s[:limit-len(dots)]
	for len(s) > 0 && !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s + dots
}

func toUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return fmt.Sprintf("%+q", s)
}
