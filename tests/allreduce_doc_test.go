// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// block is a code block of a document.
type block struct{ language, text string }

var fence = regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$")

func blocks(t *testing.T, doc string) []block {
	t.Helper()
	text, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	var all []block
	for _, m := range fence.FindAllStringSubmatch(string(text), -1) {
		all = append(all, block{m[1], m[2]})
	}
	return all
}

// Each example of docs/allreduce.md prints the block of text that follows it.
func TestAllReduceDocument(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"part.0": "1\n2\n3\n", "part.1": "4\n", "part.2": "5\n6\n7\n8\n", "part.3": "9\n10\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	port := startServer(t)
	t.Setenv("GVW_SPAN_SERVER", "127.0.0.1")
	t.Setenv("GVW_SPAN_SERVER_PORT", port)
	t.Setenv("PATH", filepath.Dir(gvwBin)+string(os.PathListSeparator)+os.Getenv("PATH"))
	found := map[string]int{}
	all := blocks(t, "../docs/allreduce.md")
	for i, b := range all {
		if b.language == "text" {
			continue
		}
		if i+1 == len(all) || all[i+1].language != "text" {
			t.Errorf("no text follows with the output of:\n%s", b.text)
			continue
		}
		found[b.language]++
		want := all[i+1].text
		var outs []string
		switch b.language {
		case "sh":
			t.Setenv("GVW_TOTAL", "4") // as the first example exports
			r := run(t, dir, "sh", "-e", "-c", b.text)
			if r.code != 0 {
				t.Errorf("exit code %d\n%s", r.code, r.stderr)
			}
			outs = append(outs, r.stdout)
		case "go":
			outs = goProgram(t, "../docs/allreduce.md", b.text)
		case "python":
			outs = pythonProgram(t, dir, b.text)
		default:
			t.Errorf("who runs a program in %s?", b.language)
		}
		for rank, out := range outs {
			if out != want {
				t.Errorf("rank %d: the %s example prints %q, the document says %q", rank, b.language, out, want)
			}
		}
	}
	if found["go"] != 1 || found["sh"] != 3 || found["python"] != 1 {
		t.Errorf("found %v: is the document in the form that this test reads?", found)
	}
}

// requireModule matches the lines of the document that make a module use this checkout.
var requireModule = regexp.MustCompile(`(?m)^    (go mod edit .*)\n    (go mod tidy)$`)

// goProgram builds a program in a module of its own, with the commands of the document, and
// runs it as four ranks of gvw run.
func goProgram(t *testing.T, doc, source string) []string {
	t.Helper()
	if lines := strings.Count(source, "\n"); lines > 40 {
		t.Errorf("the program has %d lines, more than 40", lines)
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "main.go"), source)
	writeFile(t, filepath.Join(dir, "go.sum"), readFile(t, filepath.Join(root, "go.sum"))) // so that go does not query a server
	lines := requireModule.FindStringSubmatch(readFile(t, doc))
	if lines == nil {
		t.Fatal("the document has no lines that make a module use this checkout")
	}
	t.Setenv("GOPROXY", "off")
	for _, line := range append([]string{"go mod init example.com/sums"}, append(lines[1:], "go build -o sums .")...) {
		words := strings.Fields(strings.ReplaceAll(line, "/path/to/gvw", root))
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
	}
	r := run(t, dir, gvwBin, "run", "-n", "4", "--log_dir", "logs", "--", "./sums")
	if r.code != 0 {
		t.Errorf("exit code %d\n%s", r.code, r.stderr)
	}
	outs := []string{r.stdout}
	for _, rank := range []string{"1", "2", "3"} {
		outs = append(outs, readFile(t, filepath.Join(dir, "logs", "rank-0"+rank+".log")))
	}
	return outs
}

func pythonProgram(t *testing.T, dir, source string) []string {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("REQUIRE_ALL") == "1" {
			t.Fatal("REQUIRE_ALL=1, and there is no python3 for the Python example of docs/allreduce.md")
		}
		t.Skip("needs a python3 for the Python example of docs/allreduce.md; the others hold")
	}
	return fourRanks(t, dir, func(rank string) []string { return []string{python, "-c", source, rank, "4"} })
}

// fourRanks runs a program once per rank and returns the output of each.
func fourRanks(t *testing.T, dir string, command func(rank string) []string) []string {
	t.Helper()
	var ranks []*process
	for _, rank := range []string{"0", "1", "2", "3"} {
		words := command(rank)
		ranks = append(ranks, start(t, dir, words[0], words[1:]...))
	}
	var outs []string
	for rank, p := range ranks {
		r := p.wait()
		if r.code != 0 {
			t.Errorf("rank %d: exit code %d\n%s", rank, r.code, r.stderr)
		}
		outs = append(outs, r.stdout)
	}
	return outs
}
