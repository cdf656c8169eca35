// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package daemon

func (c *conn) waiter() func() (*buffers, int, error) { return reader(c.nc, &c.s.buffers) }
