// SPDX-License-Identifier: Apache-2.0

package hadoop

import (
	"math"
	"strconv"
	"strings"
)

const mib = 1 << 20

// MemoryLimit returns how many bytes the container leaves to the mapper: its size without the
// heap of the task's JVM, and without a tenth, which the rest of that JVM and
// the mapper's other memory take. limited is false if the container has no limit. bytes is 0
// if the heap takes everything.
func (t Task) MemoryLimit() (bytes uint64, limited bool) {
	if t.MemoryMB == 0 {
		return 0, false
	}
	all := uint64(t.MemoryMB) * mib
	taken := uint64(t.HeapMB)*mib + all/10
	return all - min(taken, all), true
}

// MemoryFor returns the size in MB of a container that leaves that many bytes to the mapper.
func (t Task) MemoryFor(bytes uint64) int {
	need := float64(bytes)/mib + float64(t.HeapMB)
	return int(math.Ceil(need / 0.9))
}

// heapMB returns the largest heap that a JVM's options allow; 0: unspecified. As for the JVM,
// the last option counts.
func heapMB(options string) int {
	mb := 0
	for word := range strings.FieldsSeq(options) {
		size, found := strings.CutPrefix(word, "-Xmx")
		if !found || size == "" {
			continue
		}
		shift := 0 // of bytes
		switch size[len(size)-1] {
		case 'k', 'K':
			shift = 10
		case 'm', 'M':
			shift = 20
		case 'g', 'G':
			shift = 30
		case 't', 'T':
			shift = 40
		}
		if shift > 0 {
			size = size[:len(size)-1]
		}
		n, err := strconv.ParseUint(size, 10, 64)
		if err != nil || n > math.MaxInt64>>shift {
			continue // invalid: the JVM would not have started with it
		}
		mb = int((n<<shift + mib - 1) / mib)
	}
	return mb
}
