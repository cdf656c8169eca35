// SPDX-License-Identifier: Apache-2.0

package deptest

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// unsafeFiles are the files that import unsafe, and why each must. What the compiler does
// not check there a test does: that file's own, under the race detector too.
var unsafeFiles = map[string]string{
	"allreduce/alloc.go":                  "how many elements of a type fit into memory that ranks share",
	"internal/kernels/fold.go":            "operands of a sum are places in memory of several owners, seen as their elements",
	"internal/kernels/fold_amd64.go":      "assembly takes addresses",
	"internal/kernels/fold_other.go":      "the same signature where there is no assembly",
	"internal/kernels/kernels.go":         "a sum of two vectors is given to the same kernels, by addresses",
	"internal/kernels/kind.go":            "views bytes as elements",
	"allreduce/register.go":               "memory that a card reads must not be moved",
	"internal/shm/group.go":               "operands and results lie in the memory of other ranks",
	"internal/shm/meet.go":                "the address of a vector shows whether it lies in the shared arena, and where",
	"internal/shm/flow.go":                "the addresses of operands and results, piece by piece",
	"internal/shm/sum.go":                 "the same, block by block, and views of them as bytes",
	"internal/shm/segment.go":             "words in shared memory are read and written as atomics",
	"internal/shm/segment_linux.go":       "memory is mapped at a place, and waited for by its address",
	"allreduce/vector.go":                 "a vector of any element type crosses the wire as the bytes that it is",
	"allreduce/transport/socket_linux.go": "system calls that do not tell the scheduler take addresses",
	"allreduce/verbs/domain.go":           "a region is known by the address of its memory",
	"allreduce/verbs/queue_ibverbs.go":    "C hands over an array",
	"allreduce/verbs/system_ibverbs.go":   "C takes and hands over addresses",
	"internal/mem/cells.go":               "four weights of a feature are one array: the bounds are checked once",
	"internal/mem/huge_linux.go":          "advice to the system is about addresses",
}

func TestUnsafeHasAReason(t *testing.T) {
	found := map[string]bool{}
	for _, s := range allSources(t) {
		if s.test {
			continue
		}
		for _, spec := range s.file.Imports {
			if strings.Trim(spec.Path.Value, `"`) != "unsafe" {
				continue
			}
			if found[s.path] = true; unsafeFiles[s.path] == "" {
				t.Errorf("%s imports unsafe: do without it, or say in unsafeFiles why it must", s.path)
			}
		}
	}
	for _, file := range slices.Sorted(maps.Keys(unsafeFiles)) {
		if !found[file] {
			t.Errorf("unsafeFiles names %s, which does not import unsafe (any more): take the row out", file)
		}
	}
}
