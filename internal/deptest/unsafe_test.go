// SPDX-License-Identifier: Apache-2.0

package deptest

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// unsafeFiles maps the files that import unsafe to the reason. Tests of these files, which also
// run under the race detector, replace the checks of the compiler.
var unsafeFiles = map[string]string{
	"allreduce/memory.go":                    "computes how many elements of a type fit into memory that ranks share",
	"internal/kernels/fold.go":               "the operands of a sum are in memory of several owners, viewed as elements",
	"internal/kernels/fold_amd64.go":         "assembly takes addresses",
	"internal/kernels/fold_other.go":         "has the same signature on systems without assembly",
	"internal/kernels/kernels.go":            "passes the addresses of two vectors to the same kernels",
	"internal/kernels/kind.go":               "views bytes as elements",
	"internal/shm/group.go":                  "operands and results are in the memory of other ranks",
	"internal/shm/meet.go":                   "finds the place of a vector in the shared arena by its address",
	"internal/shm/flow.go":                   "computes the addresses of operands and results, piece by piece",
	"internal/shm/sum.go":                    "computes the same addresses, block by block, and views blocks as bytes",
	"internal/shm/segment.go":                "reads and writes words in shared memory as atomics",
	"internal/shm/segment_linux.go":          "maps memory at an address, and waits on an address (futex)",
	"allreduce/vector.go":                    "views a vector of any element type as the bytes that are sent",
	"allreduce/transport/park_linux.go":      "a raw system call, which does not inform Go's scheduler, takes an address",
	"allreduce/transport/socket_linux.go":    "raw system calls, which do not inform Go's scheduler, take addresses",
	"allreduce/verbs/domain.go":              "identifies a registered region by the address of its memory",
	"malt/internal/rdmawrite/boxes_linux.go": "reads the flags of mailboxes in registered memory as atomics",
	"allreduce/verbs/queue_ibverbs.go":       "C returns an array",
	"allreduce/verbs/system_ibverbs.go":      "C takes and returns addresses",
	"internal/mem/cells.go":                  "views the four weights of a feature as one array, so that bounds are checked once, and tables as words",
	"internal/mem/touched_linux.go":          "asks the system for the pages at an address",
	"internal/mem/float32s.go":               "views a table as bytes, to request pages for them",
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
				t.Errorf("%s imports unsafe: remove the import, or add the file to unsafeFiles with the reason", s.path)
			}
		}
	}
	for _, file := range slices.Sorted(maps.Keys(unsafeFiles)) {
		if !found[file] {
			t.Errorf("unsafeFiles has %s, which does not import unsafe: remove the row", file)
		}
	}
}
