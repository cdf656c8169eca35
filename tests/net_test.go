// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"math/rand/v2"
	"net"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
)

// nextPort is the next candidate of freePort. Servers of tests listen below the ephemeral ports
// (from 32768 on Linux), of which other tests use thousands. The start in that range differs
// between test processes.
var nextPort atomic.Int32

func init() { nextPort.Store(12_000 + rand.Int32N(18_000)) }

// freePort returns an unused port.
func freePort(t *testing.T) string {
	t.Helper()
	for range 1000 {
		port := strconv.Itoa(int(nextPort.Add(1)))
		if l, err := net.Listen("tcp", ":"+port); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return ""
}

func dialable(addr string) bool {
	c, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return false
	}
	return c.Close() == nil
}
