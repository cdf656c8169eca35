// SPDX-License-Identifier: Apache-2.0

package deptest

import (
	"go/ast"
	"go/doc"
	"slices"
	"testing"
)

// exampled are packages that must have an example although api/ does not list them: the
// formats and passes beside package feature.
var exampled = []string{"feature/cache", "feature/csr", "feature/csv", "feature/json", "feature/libsvm", "feature/stream"}

// TestEachPublicPackageHasAnExample also ensures that go test runs the examples: one
// without a comment on its output is only compiled.
func TestEachPublicPackageHasAnExample(t *testing.T) {
	tests := map[string][]*ast.File{}
	for _, s := range allSources(t) {
		if s.test {
			tests[s.dir] = append(tests[s.dir], s.file)
		}
	}
	for _, dir := range slices.Concat(public, exampled) {
		examples := doc.Examples(tests[dir]...)
		if len(examples) == 0 {
			t.Errorf("%s has no Example function: add one to %s/example_test.go", dir, dir)
		}
		for _, e := range examples {
			if e.Output == "" && !e.EmptyOutput {
				t.Errorf("%s: Example%s has no comment on its output, so go test does not run it", dir, e.Name)
			}
		}
	}
}
