// SPDX-License-Identifier: Apache-2.0

package deptest

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// securityPage returns the rest of the paragraph of docs/security.md in which a text ends, or a paragraph after it.
func securityPage(t *testing.T, from string, skip int) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(page), from)
	blocks := strings.Split(text, "\n\n")
	if !found || len(blocks) <= skip {
		t.Fatalf("docs/security.md has no %q with %d paragraphs after it", from, skip)
	}
	return blocks[skip]
}

// rows returns the cells of a table in Markdown, without its header.
func rows(table string) (all [][]string) {
	for _, line := range strings.Split(strings.TrimSpace(table), "\n")[2:] {
		var cells []string
		for _, cell := range strings.Split(strings.Trim(line, "|"), "|") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		all = append(all, cells)
	}
	return all
}

// modulesOf returns the modules of a program for Linux, without this one.
func modulesOf(t *testing.T, program string) []string {
	t.Helper()
	t.Setenv("GOOS", "linux")
	t.Setenv("GOARCH", "amd64")
	found := map[string]bool{}
	for _, name := range strings.Fields(goList(t, "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", program)) {
		found[name] = name != module
	}
	delete(found, module)
	return slices.Sorted(maps.Keys(found))
}

// The page names each module that is linked into gvw, and no other. spanning_tree has only those that the page names
// for it.
func TestSecurityPageNamesTheModules(t *testing.T) {
	var listed, server []string
	for _, row := range rows(securityPage(t, "lists these other modules:", 1)) {
		names := strings.Split(row[0], ", ")
		listed = append(listed, names...)
		if row[0] == "golang.org/x/sys" || strings.HasPrefix(row[1], "metrics") {
			server = append(server, names...)
		}
	}
	slices.Sort(listed)
	listed = slices.Compact(listed) // a module may have several purposes
	slices.Sort(server)
	if diff := cmp.Diff(modulesOf(t, "./cmd/gvw"), listed); diff != "" {
		t.Errorf("docs/security.md, modules of gvw (-linked +listed):\n%s", diff)
	}
	if diff := cmp.Diff(modulesOf(t, "./cmd/spanning_tree"), server); diff != "" {
		t.Errorf("docs/security.md, modules of spanning_tree (-linked +listed):\n%s", diff)
	}
}

var quoted = regexp.MustCompile("`([^`]+)`")

// The page names each package that imports unsafe: TestUnsafeHasAReason compares unsafeFiles with the source.
func TestSecurityPageNamesTheUnsafePackages(t *testing.T) {
	packages := map[string]bool{}
	for file := range unsafeFiles {
		packages[path.Dir(file)] = true
	}
	var listed []string
	list, _, _ := strings.Cut(securityPage(t, "These packages import unsafe:", 0), ". ")
	for _, m := range quoted.FindAllStringSubmatch(list, -1) {
		listed = append(listed, m[1])
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(packages)), listed); diff != "" {
		t.Errorf("docs/security.md, packages that import unsafe (-source +listed):\n%s", diff)
	}
}

var fuzzTarget = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)

// Each fuzz target of the page is in its package.
func TestSecurityPageNamesFuzzTargets(t *testing.T) {
	found := map[string]bool{}
	for _, s := range allSources(t) {
		if !s.test {
			continue
		}
		for _, m := range fuzzTarget.FindAllStringSubmatch(s.text, -1) {
			found[s.dir+": "+m[1]] = true
		}
	}
	count := 0
	for _, row := range rows(securityPage(t, "and found no fault:", 1)) {
		for _, target := range strings.Split(row[2], ", ") {
			if count++; !found[strings.Trim(row[1], "`")+": "+target] {
				t.Errorf("docs/security.md lists the fuzz target %s in %s: that package has no such target", target, row[1])
			}
		}
	}
	if count < 30 {
		t.Errorf("the table of fuzz targets has %d, want 30 or more: is it written in another way?", count)
	}
}
