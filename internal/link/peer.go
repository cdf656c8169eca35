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

// RankAt names a rank for messages: rank 7 (h7:26550).
func RankAt(rank int, host string) string {
	if rank == UnknownRank {
		return "the peer at " + plain.Text(host)
	}
	return members.Name(rank, host)
}
