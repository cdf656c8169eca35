// SPDX-License-Identifier: Apache-2.0

package deptest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// docs/architecture.txt, the picture of the imports, is up to date.
func TestThePictureOfTheImportsIsCurrent(t *testing.T) {
	cmd := exec.Command("go", "run", "./internal/deps")
	cmd.Dir = root
	got, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go run ./internal/deps: %v\n%s", err, got)
	}
	want, err := os.ReadFile(filepath.Join(root, "docs", "architecture.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Errorf("docs/architecture.txt is out of date: go run ./internal/deps > docs/architecture.txt\n%s", diff)
	}
}

// docs/architecture.md describes each package of the product.
func TestThePageOnTheArchitectureHasAllPackages(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	missing := map[string]bool{}
	for _, s := range allSources(t) {
		if !s.test && !withinAny(s.dir, []string{"tests", "bench"}) && !strings.Contains(string(page), "`"+s.dir+"`") {
			missing[s.dir] = true
		}
	}
	for dir := range missing {
		t.Errorf("docs/architecture.md does not name `%s`: add a sentence on it", dir)
	}
}
