// SPDX-License-Identifier: Apache-2.0

package deptest

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const spdx = "SPDX-License-Identifier: Apache-2.0"

func TestEveryGoFileBeginsWithTheLicence(t *testing.T) {
	for _, s := range allSources(t) {
		if first, _, _ := strings.Cut(s.text, "\n"); first != "// "+spdx {
			t.Errorf("%s: the first line is %q, want %q", s.path, first, "// "+spdx)
		}
	}
}

func TestScriptsNameTheLicence(t *testing.T) {
	for _, pattern := range []string{"scripts/*.sh", "quickstart/*.sh", "quickstart/*.py", ".ci/*", "Makefile"} {
		paths, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range paths {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			head := text[:min(len(text), 200)]
			if !strings.Contains(string(head), "# "+spdx) {
				t.Errorf("%s: no line %q at the top", file, "# "+spdx)
			}
		}
	}
}

// maxLines is the most lines of a file. A longer one usually has more than one subject.
const maxLines = 600

func TestNoFileIsTooLong(t *testing.T) {
	for _, s := range allSources(t) {
		if n := strings.Count(s.text, "\n"); !s.test && n > maxLines {
			t.Errorf("%s has %d lines, more than %d: split it", s.path, n, maxLines)
		}
	}
}

func TestEveryPackageIsDocumented(t *testing.T) {
	documented, where := map[string]bool{}, map[string]string{}
	for _, s := range allSources(t) {
		if s.test {
			continue
		}
		where[s.dir] = s.path
		begin := "Package " + s.file.Name.Name + " "
		if s.command() {
			begin = "Command " + path.Base(s.dir) + " "
		}
		// A command may also begin with its name, as the go command's own do.
		name := path.Base(s.dir) + " "
		doc := s.file.Doc.Text()
		if strings.HasPrefix(doc, begin) || s.command() && strings.EqualFold(doc[:min(len(doc), len(name))], name) {
			documented[s.dir] = true
		}
	}
	for dir, file := range where {
		if !documented[dir] {
			t.Errorf("package %s (%s) has no comment that begins with Package or Command and its name", dir, file)
		}
	}
}

// open finds words with which authors mark unfinished code.
var open = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|X` + `XX|HA` + `CK)\b|not (yet )?impl` + `emented|\bfor n` + `ow\b`)

func TestNothingIsLeftOpen(t *testing.T) {
	for _, s := range allSources(t) {
		for i, line := range strings.Split(s.text, "\n") {
			if word := open.FindString(line); word != "" {
				t.Errorf("%s:%d: %q: finish it, or write an issue", s.path, i+1, word)
			}
		}
	}
}

// Files in the repository are small, since every clone has them. Large data belongs outside.
func TestNoCommittedFileIsHuge(t *testing.T) {
	out, err := exec.Command("git", "-C", root, "ls-files", "-z").Output()
	if err != nil {
		t.Skipf("needs git and a clone: %v", err)
	}
	const limit = 3 << 20
	for file := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		info, err := os.Stat(filepath.Join(root, file))
		if os.IsNotExist(err) {
			continue // deleted, not committed
		}
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > limit {
			t.Errorf("%s has %d bytes, more than %d", file, info.Size(), limit)
		}
	}
}
