// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestFromVWTutorial runs the commands of docs/from-vw.md and looks for the lines that it
// shows.
func TestFromVWTutorial(t *testing.T) {
	t.Parallel()
	testConsole(t, "../docs/from-vw.md", 8, "../quickstart")
}

// testConsole runs the commands of a page, of at least least blocks, and looks for what the page
// shows below them. The commands run in a folder with links to the other paths.
func testConsole(t *testing.T, name string, least int, links ...string) {
	t.Helper()
	page := readFile(t, name)
	blocks := regexp.MustCompile("(?ms)^```console\n(.*?)^```$").FindAllStringSubmatch(page, -1)
	if len(blocks) < least {
		t.Fatalf("%d blocks of commands: is the page written in another way?", len(blocks))
	}
	dir := t.TempDir()
	for _, link := range links {
		target, err := filepath.Abs(link)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(dir, filepath.Base(target))); err != nil {
			t.Fatal(err)
		}
	}
	bin := t.TempDir()
	if err := os.Symlink(gvwBin, filepath.Join(bin, "gvw")); err != nil {
		t.Fatal(err)
	}
	for _, block := range blocks {
		steps := strings.Split("\n"+block[1], "\n$ ")[1:]
		name, _, _ := strings.Cut(steps[0], "\n")
		t.Run(name, func(t *testing.T) {
			if strings.Contains("\n"+block[1], "\n$ vw ") {
				vw := fmt.Sprintf("#!/bin/sh\nexec %s \"$@\"\n", strings.Join(realVW(t), " "))
				if err := os.WriteFile(filepath.Join(bin, "vw"), []byte(vw), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for _, step := range steps {
				command, shown, _ := strings.Cut(step, "\n")
				cmd := exec.CommandContext(t.Context(), "bash", "-e", "-c", command)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("$ %s: %v\n%s", command, err, out)
				}
				if !showing(shown).MatchString(strings.TrimRight(string(out), "\n")) {
					t.Errorf("$ %s\nprints:\n%s\nthe page shows:\n%s", command, tail(string(out), 30), shown)
				}
			}
		})
	}
}

// showing returns a pattern for a block: … stands for any text, a line of it for any lines.
func showing(text string) *regexp.Regexp {
	pattern := regexp.QuoteMeta(strings.TrimRight(text, "\n"))
	pattern = regexp.MustCompile(`(?m)^…\n`).ReplaceAllString(pattern, "(?:.*\n)*?")
	pattern = strings.ReplaceAll(pattern, "\n…", "(?:\n.*)*")
	pattern = strings.ReplaceAll(pattern, "…", ".*")
	return regexp.MustCompile("^" + pattern + "$")
}
