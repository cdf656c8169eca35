// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"strings"
	"testing"
)

// Text of another format is recognised by its first lines, in reads of any size.
func TestForeignText(t *testing.T) {
	many := strings.Repeat("1 | a\n", 3)
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"1 | a b\n", ""},
		{"1\n0\n1 0.5\n", ""},
		{"tag\n'tag\n", ""},
		{"1 2 0.5 'a\n", ""},
		{"1:2:0.5\n", ""},
		{"a,b\n" + many, ""},
		{"a,b\n", ""},
		{"{\"a\": \"|\"}\n1 | a\n", ""},
		{"# a comment, of two parts\n1 | a\n", ""},
		{"1\t2\t0.5\n-1\t1\t0\n", ""},
		{"age,income,bought\n30,1000,1\n", "stream.Config.Format=csv csv.Config.Label=COLUMN (the label's name or number)"},
		{"age,income,bought\r\n30,1000,1", "CSV of 3 columns"},
		{"age;income\n30;1000\n", "csv.Config.Separator=';'"},
		{"a\tb\tc\td\te\n1\t2\t3\t4\t5\n", `csv.Config.Separator='\t'`},
		{"1,2,3\n4,5,6\n", "csv.Config.NoFileHeader csv.Config.Header=NAMES"},
		{"+1 1:0.5 3:1 # first\n-1\n1 2:1e-3\n", "stream.Config.Format=libsvm"},
		{"2 qid:1 1:0.5\n", "stream.Config.Format=libsvm"},
		{"{\"label\": 1, \"x\": \"a|b\"}\n", "stream.Config.Format=json"},
		{strings.Repeat("1,2,3\n", checkedLines) + many, "CSV of 3 columns"},
	} {
		for _, step := range []int{len(c.text) + 1, 1} { // at once, and line by line
			var f formatCheck
			var err error
			lines := strings.SplitAfter(c.text, "\n")
			if step > 1 {
				err = f.add([]byte(c.text), true)
			} else {
				for i := 0; i < len(lines) && err == nil; i++ {
					err = f.add([]byte(lines[i]), i == len(lines)-1)
				}
			}
			if got := errorText(err); c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("%q in pieces of %d: got %q, want %q", c.text, step, got, c.want)
			}
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
