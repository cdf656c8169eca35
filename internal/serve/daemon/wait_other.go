// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package daemon

import (
	"net"
	"sync"
)

func waiter(nc net.Conn, pool *sync.Pool) func() (*buffers, int, error) { return reader(nc, pool) }
