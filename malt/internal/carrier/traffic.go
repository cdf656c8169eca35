// SPDX-License-Identifier: Apache-2.0

package carrier

import "github.com/gvw-project/gvw/internal/monitor/traffic"

// counted are the bytes of a peer that the meter has, and those in mailboxes that it does not have yet. All is under the
// carrier's lock.
type counted struct {
	in, out       int64  // of the link
	wrote, merged uint64 // in mailboxes: written into the peer's memory, and merged from this rank's
}

// Count gives the meter the bytes that have moved since the last call, and returns how far the rank has come with its objects.
func (c *Carrier) Count() (r traffic.Rounds) {
	c.set.Mu.Lock()
	defer c.set.Mu.Unlock()
	for _, p := range c.peers {
		if p == nil || !p.link.IsOpen() {
			continue
		}
		in, out := p.link.Counts()
		e := traffic.Edge{Rank: p.link.Rank, Local: p.link.Local(), Sent: uint64(out - p.counted.out), Received: uint64(in - p.counted.in)}
		c.Traffic.Moved(e)
		e.Via, e.Sent, e.Received = traffic.Verbs, p.counted.wrote, p.counted.merged
		if e.Local {
			e.Via = traffic.Memory
		}
		c.Traffic.Moved(e)
		p.counted = counted{in: in, out: out}
	}
	for _, o := range c.objects {
		r.Sent = max(r.Sent, o.Rounds.Load())
		r.Behind = max(r.Behind, uint64(o.pace.Behind()))
	}
	return r
}
