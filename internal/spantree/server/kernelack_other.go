// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package server

import (
	"net"
	"time"
)

// ackAge returns nothing: other systems do not report when a connection was last acknowledged.
func ackAge(net.Conn) (age time.Duration, known bool) { return 0, false }
