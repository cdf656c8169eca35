// SPDX-License-Identifier: Apache-2.0

package link

import (
	"net"

	"github.com/gvw-project/gvw/internal/members"
	"github.com/gvw-project/gvw/internal/plain"
)

// UnknownRank is the rank of a peer that has not named itself, in a job with vw workers.
const UnknownRank = -1

// Peer is the rank at the other end of a link, and the open connection to it.
type Peer struct {
	Conn net.Conn
	Rank int    // UnknownRank in a job with vw workers
	Host string // its address, for messages
	Tags Tags   // of the frames; zero: they have checksums
}

// Local reports whether the connection leads to an address of this machine.
func (p *Peer) Local() bool {
	if p.Conn == nil || p.Conn.LocalAddr() == nil || p.Conn.RemoteAddr() == nil {
		return false
	}
	here, _, err := net.SplitHostPort(p.Conn.LocalAddr().String())
	there, _, err2 := net.SplitHostPort(p.Conn.RemoteAddr().String())
	return err == nil && err2 == nil && here == there
}

// RankAt names a rank for messages: rank 7 (h7:26550).
func RankAt(rank int, host string) string {
	if rank == UnknownRank {
		return "the peer at " + plain.Text(host)
	}
	return members.Name(rank, host)
}
