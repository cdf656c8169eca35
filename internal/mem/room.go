// SPDX-License-Identifier: Apache-2.0

package mem

// Room is the memory that a limit leaves to this process.
type Room struct {
	Bytes uint64
	Of    string // description of the limit
	own   bool   // the limit is per process
}
