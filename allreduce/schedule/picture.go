// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"strings"

	"github.com/gvw-project/gvw/allreduce/topo"
)

// Graph returns the messages and bytes between each pair of ranks in an all-reduce.
func (s Spec) Graph() topo.Graph {
	g := topo.Graph{Size: s.Size}
	for rank := range s.Size {
		p := s.AllReduce(rank)
		for at, peer := range p.Peers {
			l := topo.Link{From: rank, To: peer, Messages: len(p.sends[at])}
			for _, i := range p.sends[at] {
				l.Bytes += p.Steps[i].Hi - p.Steps[i].Lo
			}
			if l.Messages > 0 {
				g.Links = append(g.Links, l)
			}
		}
	}
	return g
}

// String returns the act's name in lists of steps.
func (a Act) String() string {
	if names := [...]string{"give", "take", "below", "above"}; int(a) < len(names) {
		return names[a]
	}
	return fmt.Sprintf("act %d", uint8(a))
}

// String lists the steps, one per line. A join is written as the sum that it computes.
func (p *Program) String() string {
	var b strings.Builder
	for i, s := range p.Steps {
		own := "result"
		if s.Own {
			own = "own"
		}
		what := ""
		switch s.Act {
		case Give:
			what = fmt.Sprintf("%s to rank %d", own, s.Peer)
		case Take:
			what = fmt.Sprintf("result from rank %d", s.Peer)
		case Below:
			what = fmt.Sprintf("result = rank %d's + %s", s.Peer, own)
		case Above:
			what = fmt.Sprintf("result = %s + rank %d's", own, s.Peer)
		}
		fmt.Fprintf(&b, "%5d  bytes %d to %d: %s", i, s.Lo, s.Hi, what)
		if len(s.After) > 0 {
			fmt.Fprintf(&b, ", after %s", strings.Trim(fmt.Sprint(s.After), "[]"))
		}
		b.WriteByte('\n')
	}
	return b.String()
}
