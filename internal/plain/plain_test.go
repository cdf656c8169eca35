// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"": "",
		"job_17 (h3): 12 s – für Grüße ☃ 人": "job_17 (h3): 12 s – für Grüße ☃ 人",
		"a\x1b[2Jb":           `a\x1b[2Jb`,
		"\x1b]0;title\a":      `\x1b]0;title\a`,
		"two\nlines\r":        `two\nlines\r`,
		"tab\tand\x7f":        `tab\tand\x7f`,
		"C1 \u009b31m":        `C1 \u009b31m`,
		"\u202ereversed":      `\u202ereversed`,
		"line\u2028separator": `line\u2028separator`,
		"not UTF-8 \xff\xc3":  `not UTF-8 \xff\xc3`,
		"\ufffd\U000e0041":    `\ufffd\U000e0041`,
		`C:\path "quoted"`:    `C:\path "quoted"`,
	} {
		if got := Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"plain", "\x1b[2J\n\a", "\u009b\u202e\xff", "\U000e0041é"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Text(s)
		if i := strings.IndexFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 || !utf8.ValidString(got) {
			t.Fatalf("Text(%q) = %q is not printable at %d", s, got, i)
		}
		if again := Text(got); again != got {
			t.Fatalf("Text(%q) = %q, and of that %q", s, got, again)
		}

		text, err := json.MarshalIndent(map[string]string{"v": s}, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		var before, after map[string]string
		safe := JSON(string(text))
		if err := json.Unmarshal([]byte(safe), &after); err != nil {
			t.Fatalf("%q: %v", safe, err)
		}
		if err := json.Unmarshal(text, &before); err != nil || before["v"] != after["v"] {
			t.Fatalf("%q became %q", before["v"], after["v"])
		}
		if strings.ContainsFunc(safe, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
			t.Fatalf("JSON(%q) = %q is not printable", text, safe)
		}
	})
}
