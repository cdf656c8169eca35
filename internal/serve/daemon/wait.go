// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"net"
	"sync"
)

// reader returns a function that reads into a buffer of the pool. It holds the buffer while it
// waits.
func reader(nc net.Conn, pool *sync.Pool) func() (*buffers, int, error) {
	return func() (*buffers, int, error) {
		b := pool.Get().(*buffers)
		n, err := nc.Read(b.in[:])
		if n > 0 {
			err = nil // the next read returns it again
		}
		return b, n, err
	}
}
