// SPDX-License-Identifier: Apache-2.0

package deptest

import (
	"go/ast"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// flagNames are the files of libraries whose strings may contain names of command-line
// flags, with the reason.
var flagNames = map[string]string{
	"internal/remote/command.go": "a command of the program",
	"hdfsio/decompress.go":       "a flag of the program zstd",
	"model/models.go":            "an option that a model file keeps",
	"model/encode.go":            "an option that a model file keeps",
	"model/options.go":           "the syntax of the options that a model file keeps",
	"learn/modeloptions.go":      "options that a model file keeps",
	"internal/chart/svg.go":      "variables of a style sheet",
	"internal/chart/graph.go":    "variables of a style sheet",
	"internal/report/page.go":    "variables of a style sheet",
}

// flagName is the name of a flag of gvw or vw in a text.
var flagName = regexp.MustCompile(`(^|[^-\w])--[a-z]\w`)

// Libraries name fields of configurations in messages, since a caller in Go has no command
// line. Programs replace the fields by their flags.
func TestLibrariesNameNoFlags(t *testing.T) {
	programs := []string{
		"cmd/", "bench/", "quickstart/", "tests/", "tools/",
		"internal/cli/", "internal/flags/", "internal/files/", "internal/joinflags/", "internal/train/", "internal/run/", "internal/search/", "internal/mapper/", "internal/programs/", "internal/show/", "internal/tools/", // parts of gvw
		"internal/compat/", // the table of vw's options
		"internal/deps/", "internal/release/", "internal/manual/", "internal/deptest/", "internal/testsum/", "internal/typecheck/",
	}
	found := map[string]bool{}
	for _, s := range allSources(t) {
		if s.test || slices.ContainsFunc(programs, func(dir string) bool { return strings.HasPrefix(s.path, dir) }) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			if err != nil || !flagName.MatchString(text) {
				return true
			}
			if found[s.path] = true; flagNames[s.path] == "" {
				t.Errorf("%s names a flag in %q: name the field of the configuration, or add the file to flagNames with a reason", s.path, text)
			}
			return true
		})
	}
	for _, file := range slices.Sorted(maps.Keys(flagNames)) {
		if !found[file] {
			t.Errorf("flagNames has %s, which names no flag: remove the row", file)
		}
	}
}
