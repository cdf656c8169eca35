// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package doctor

import "net"

func mtu(net.Conn) int { return 0 }
