// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// parallelLine matches lines of a program that are there only for its parallel version.
var parallelLine = regexp.MustCompile(`[a-z]+Shared\b|\bshared[A-Z]|\bmalt\.`)

// codeLines returns the lines of a file that are neither empty nor comments, and those among them that are only for
// the parallel version.
func codeLines(t *testing.T, name string) (all, parallel int) {
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	whole := strings.HasPrefix(filepath.Base(name), "malt")
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) == 0 || bytes.HasPrefix(line, []byte("//")) {
			continue
		}
		all++
		if whole || parallelLine.Match(line) {
			parallel++
		}
	}
	return all, parallel
}

// TestAProgramGoesParallelInFewLines counts the lines that a program has for its parallel version: in package learn/NAME
// and in the files NAME*.go and maltNAME.go of this package. The paper on MALT gives 15 % for three programs.
func TestAProgramGoesParallelInFewLines(t *testing.T) {
	sum, sumParallel := 0, 0
	for _, name := range []string{"svm", "factor", "nn"} {
		all, parallel := 0, 0
		for _, pattern := range []string{"../../learn/" + name + "/*.go", name + "*.go", "malt" + name + "*.go"} {
			files, err := filepath.Glob(pattern)
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				if !strings.HasSuffix(file, "_test.go") {
					a, p := codeLines(t, file)
					all, parallel = all+a, parallel+p
				}
			}
		}
		t.Logf("%-6s %4d lines, %3d for the parallel version: %4.1f %%", name, all, parallel, 100*float64(parallel)/float64(all))
		sum, sumParallel = sum+all, sumParallel+parallel
	}
	common := 0
	for _, file := range []string{"job.go", "rows.go", "shares.go", "final.go"} {
		lines, _ := codeLines(t, file)
		common += lines
	}
	t.Logf("the programs have %d lines in common that join a job, read shares and exchange vectors", common)
	share := float64(sumParallel) / float64(sum)
	t.Logf("all    %4d lines, %3d for the parallel version: %4.1f %%", sum, sumParallel, 100*share)
	if share > 0.10 {
		t.Errorf("%.1f %% of the lines are for the parallel version, want at most 10 %%", 100*share)
	}
}
