// SPDX-License-Identifier: Apache-2.0

// Package tempname names temporary files, so that the files of a process that was killed can be told from those of
// living ones. A directory may be shared by machines and containers, whose process IDs are often the same:
//
//	.model.writing-1f9c03aa-4711-…
//
// has the machine as 8 hexadecimal digits, and the process ID.
package tempname

import (
	"crypto/sha256"
	"fmt"
	"os"
	"sync"
)

// Mark begins the part of a name that has the machine and the process. In release 0.2.0 and earlier the process ID follows it.
const Mark = ".writing-"

// Infix returns the part of a name for a process of this machine.
func Infix(pid int) string { return infix(machine(), pid) }

func infix(machine string, pid int) string { return fmt.Sprintf("%s%s-%d-", Mark, machine, pid) }

// machine identifies where process IDs are unique: the host name, and on Linux the namespace of process IDs, because
// containers may have the name of their host. A host name or namespace that cannot be read is replaced by an empty string.
var machine = sync.OnceValue(func() string {
	host, _ := os.Hostname()
	namespace, _ := os.Readlink("/proc/self/ns/pid")
	return digest(host, namespace)
})

func digest(host, namespace string) string {
	return fmt.Sprintf("%.4x", sha256.Sum256([]byte(host+"\x00"+namespace)))
}
