// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The commands of docs/tutorial.md, run in order, have the effects that it describes.
func TestTutorial(t *testing.T) {
	t.Parallel()
	page := openPage(t, "tutorial.md")
	port := startServer(t)
	says := func(text string) {
		t.Helper()
		if !strings.Contains(strings.Join(strings.Fields(page.text), " "), text) {
			t.Errorf("the tutorial no longer contains %q: update this test", text)
		}
	}
	wants := func(r result, text string) {
		t.Helper()
		if !strings.Contains(r.stderr, text) {
			t.Errorf("got\n%s\nwant %q", r.stderr, text)
		}
	}
	commands, workers := 0, []*process{}
	for _, line := range page.commands() {
		commands++
		if strings.HasPrefix(line, "spanning_tree ") {
			lines := strings.SplitAfter(page.shell(t, "gunzip -c quickstart/train.vw.gz").stdout, "\n")
			for i, part := range []string{"part.0", "part.1", "part.2"} {
				writeFile(t, filepath.Join(page.dir, part), strings.Join(lines[i*300:(i+1)*300], ""))
			}
			continue // a server runs, at a free port
		}
		if local := strings.Replace(line, "--span_server gateway", "--span_server 127.0.0.1 --span_server_port "+port, 1); local != line {
			workers = append(workers, startWith(t, page.dir, nil, page.path, "sh", "-c", "exec "+local))
			continue
		}
		r := page.shell(t, line)
		switch {
		case strings.Contains(line, " -t "):
			says("The average loss on the test file is 0.0829.")
			wants(r, "average loss = 0.0829")
			if strings.Contains(r.stderr, "WARN") {
				t.Errorf("a warning in\n%s", r.stderr)
			}
			predictions := readFile(t, filepath.Join(page.dir, "predictions"))
			says("Without it, gvw shows the squared loss, 9.29, and a note. The predictions are the same.")
			r := page.shell(t, strings.Replace(line, "--loss_function logistic ", "", 1))
			wants(r, "average loss = 9.29")
			if n := strings.Count(r.stderr, "was trained with --loss_function logistic"); n != 1 {
				t.Errorf("%d notes, want 1, in\n%s", n, r.stderr)
			}
			if readFile(t, filepath.Join(page.dir, "predictions")) != predictions {
				t.Error("the predictions are others")
			}
		case strings.HasPrefix(line, "GVW_FAULT="):
			says("kill rank 2 at its fifth collective:")
			wants(r, "rank 2 has ended")
		case strings.Contains(line, "run -n 4"):
			says("the training loss of the model is 0.008683.")
			wants(r, "training loss of the model = 0.008683 (pass 20")
		case strings.Contains(line, "--hybrid"):
			says("The last line has the training loss of the model itself, 0.008387.")
			wants(r, "training loss of the model = 0.008387 (pass 20")
			if !strings.HasSuffix(strings.TrimRight(r.stderr, "\n"), "before its last step)") {
				t.Errorf("it is not the last line of\n%s", r.stderr)
			}
		}
	}
	for i, w := range workers {
		if r := w.wait(); r.code != 0 {
			t.Errorf("worker %d: exit code %d\n%s", i, r.code, r.stderr)
		}
	}
	if commands != 12 || len(workers) != 3 {
		t.Errorf("%d commands, %d of them workers: want 12 and 3: is the tutorial in the form that this test reads?", commands, len(workers))
	}
}

func mustRead(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
