// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The progress table, the summary and the predictions equal the real vw's, for both forms of -P
// and with weights of classes.
func TestTableAndSummaryAreVWs(t *testing.T) {
	t.Parallel()
	vw := realVW(t)
	dir := t.TempDir()
	var data strings.Builder
	for i := range 230 {
		fmt.Fprintf(&data, "%d |f a:%d.5 b%d |g c%d:0.%d\n", 1-2*(i*i%7%2), i%3, i%5, i%11, 1+i%9)
	}
	if err := os.WriteFile(filepath.Join(dir, "x.vw"), []byte(data.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	table := regexp.MustCompile(`(?s)\naverage  since.*`)
	for _, options := range []string{
		"-P 30", "-P 3.0", "-P 1.5", "--progress 100", "--classweight 1:3,-1:0.5", "--loss_function logistic --classweight -1:2 -P 50",
	} {
		args := append([]string{"-d", "x.vw"}, strings.Fields(options)...)
		want := run(t, dir, vw[0], append(append(vw[1:len(vw):len(vw)], args...), "-p", "vw.p")...)
		got := gvw(t, dir, append(args, "-p", "gvw.p")...)
		if w, g := table.FindString(want.stderr), table.FindString(got.stderr); w == "" || g != w {
			t.Errorf("%s: vw says:%s\ngvw says:%s", options, w, g)
		}
		if w, g := readFile(t, filepath.Join(dir, "vw.p")), readFile(t, filepath.Join(dir, "gvw.p")); w == "" || g != w {
			t.Errorf("%s: other predictions than vw's", options)
		}
	}
}

// An id is kept where vw keeps it, also in a model that is trained further.
func TestIDIsVWs(t *testing.T) {
	t.Parallel()
	vw := realVW(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.vw"), []byte("1 | a\n-1 | b\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for i, args := range [][]string{{"-f", "1", "--id", "first"}, {"-i", "1", "-f", "2"}, {"-i", "1", "-f", "3", "--id", "other"}} {
		args = append([]string{"-d", "x.vw", "--quiet"}, args...)
		run(t, dir, vw[0], append(vw[1:len(vw):len(vw)], args...)...)
		name := filepath.Join(dir, fmt.Sprint(i+1))
		want := readFile(t, name)
		gvw(t, dir, args...)
		got := readFile(t, name)
		const head = 4 + 7 + 4 + 6 // version, length, id
		if len(want) < head || !bytes.Equal([]byte(want[:head]), []byte(got[:head])) {
			t.Errorf("%v: the file begins with %q, vw's with %q", args, got[:head], want[:min(head, len(want))])
		}
	}
}
