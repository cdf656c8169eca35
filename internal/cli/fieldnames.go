// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"log/slog"
	"strings"
)

// FieldOptions maps fields of configurations to the options that set them. Libraries name
// such a field in messages, as in learn.Config.Reg.L2, and with a value as in
// learn.Config.Loss.Function=logistic, because a caller in Go has no command line. The key
// learn.Config.Reg.L2 has the value --l2. If several flags set one field, each has a key of
// the form FIELD=NAME.
type FieldOptions map[string]string

// NamesField reports whether a message may name a field.
func NamesField(text string) bool {
	at, _ := nextField(text)
	return at >= 0
}

// Replace returns a message with options instead of fields. Fields that are not keys of the
// table remain.
func (f FieldOptions) Replace(text string) string {
	var b strings.Builder
	for {
		at, end := nextField(text)
		if at < 0 {
			break
		}
		option, known := f[text[at:end]]
		value, stop := "", end
		if known && strings.HasPrefix(text[end:], "=") {
			stop = end + 1 + valueLength(text[end+1:])
			value = " " + text[end+1:stop]
			if flag, ok := f[text[at:stop]]; ok {
				option, value = flag, ""
			}
		}
		if !known {
			option = text[at:end]
		}
		b.WriteString(text[:at] + option + value)
		text = text[stop:]
	}
	b.WriteString(text)
	return b.String()
}

// fieldTypes are the types whose fields messages name.
var fieldTypes = []string{".Config.", ".Credentials.", ".Store.", ".Params."}

// nextField returns the first name of a field as text[at:end]; at is -1 if there is none. The
// name begins with a package and ends before punctuation.
func nextField(text string) (at, end int) {
	at = -1
	for _, name := range fieldTypes {
		i := strings.Index(text, name)
		if i < 0 {
			continue
		}
		start := i
		for start > 0 && letter(text[start-1]) {
			start--
		}
		if start < i && (at < 0 || start < at) {
			at, end = start, i+len(name)
		}
	}
	if at < 0 {
		return -1, 0
	}
	for end < len(text) && (letter(text[end]) || text[end] == '.') {
		end++
	}
	for text[end-1] == '.' {
		end--
	}
	return at, end
}

// letter reports whether c is an ASCII letter or a digit.
func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' }

// valueLength returns the length of the value that begins a text, without the
// punctuation behind it.
func valueLength(text string) int {
	n := strings.IndexAny(text, " )\n")
	if n < 0 {
		n = len(text)
	}
	return len(strings.TrimRight(text[:n], ".,:;"))
}

// ReplaceAttr returns a slog.HandlerOptions.ReplaceAttr that rewrites the messages, texts and
// errors of a record, and leaves its time out unless timed is true.
func ReplaceAttr(rewrite func(string) string, timed bool) func([]string, slog.Attr) slog.Attr {
	return func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key == slog.TimeKey && !timed {
			return slog.Attr{}
		}
		if rewrite == nil {
			return a
		}
		switch v := a.Value.Any().(type) {
		case string:
			if text := rewrite(v); text != v {
				a.Value = slog.StringValue(text)
			}
		case error:
			if text := rewrite(v.Error()); text != v.Error() {
				a.Value = slog.StringValue(text)
			}
		}
		return a
	}
}
