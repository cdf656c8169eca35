// SPDX-License-Identifier: Apache-2.0

package mem

// Room is how much memory a limit leaves to this process.
type Room struct {
	Bytes uint64
	Of    string // the limit, in words
	own   bool   // it is of each process by itself
}
