// SPDX-License-Identifier: Apache-2.0

package server

import (
	"net"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/core"
)

// A process that is stopped and a host that is down both fall silent. The kernel of the first one's host still answers
// TCP's keep-alive probes. Shortly before a silent rank is lost, the server has its kernel send a probe each second, and
// passes the age of the newest answer to the machine.

// conclusive is the time after which a host that has answered no probe is down or cut off.
const conclusive = 2 * time.Second

// closeProbes are the probes on the connection of a silent rank. They end the connection only after more than two
// minutes: the machine decides before that.
var closeProbes = net.KeepAliveConfig{Enable: true, Idle: time.Second, Interval: time.Second, Count: 127}

// usualProbes are Go's default.
var usualProbes = net.KeepAliveConfig{Enable: true}

// tick returns the next tick of the machine. The caller holds the lock.
func (s *Server) tick(now time.Time) core.TimePassed {
	silent := s.core.Silent(s.silent[:0])
	if len(silent) == 0 && len(s.probed) == 0 {
		return core.TimePassed{}
	}
	ages := map[core.ConnID]time.Duration{}
	still := map[core.ConnID]time.Time{}
	for _, id := range silent {
		c := s.conns[id]
		if c == nil {
			continue
		}
		began, probing := s.probed[id]
		if !probing {
			began = now
			setProbes(c.raw, closeProbes)
		}
		still[id] = began
		if age, known := ackAge(c.raw); known && (age < now.Sub(began) || now.Sub(began) > conclusive) {
			ages[id] = age
		}
	}
	for id := range s.probed {
		if c := s.conns[id]; c != nil && still[id].IsZero() {
			setProbes(c.raw, usualProbes) // its rank is back
		}
	}
	s.silent, s.probed = silent, still
	return core.TimePassed{Acked: ages}
}

// setProbes sets the probes of a connection. A connection that is none of TCP has none.
func setProbes(c net.Conn, p net.KeepAliveConfig) {
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetKeepAliveConfig(p) // without probes the answer is unknown
	}
}
