// SPDX-License-Identifier: Apache-2.0

package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFirstError(t *testing.T) {
	for name, c := range map[string]struct {
		log  string
		from int64
		want string
	}{
		"none":             {"average loss = 0\n", 0, ""},
		"the last line":    {"passes = 2\ngvw: part.3: line 17\ngvw: later\n", 0, "part.3: line 17"},
		"a record":         {"time=1 level=WARN msg=slow\ntime=2 level=ERROR msg=\"no disk\"\ngvw: lost\n", 0, `time=2 level=ERROR msg="no disk"`},
		"JSON":             {`{"level":"ERROR","msg":"no disk"}` + "\n", 0, `{"level":"ERROR","msg":"no disk"}`},
		"a crash":          {"panic: BUG: at sea\ngoroutine 1\n", 0, "panic: BUG: at sea"},
		"a second attempt": {"gvw: first\ngvw: second\n", 11, "second"},
		"long":             {"gvw: " + strings.Repeat("x", 300) + "\n", 0, strings.Repeat("x", longError) + "…"},
		"control bytes":    {"gvw: \x1b[31mred\n", 0, `\x1b[31mred`},
	} {
		file := filepath.Join(t.TempDir(), "rank-01.log")
		if err := os.WriteFile(file, []byte(c.log), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := firstError(file, c.from); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	if got := firstError(filepath.Join(t.TempDir(), "missing"), 0); got != "" {
		t.Errorf("no log: got %q", got)
	}
}
