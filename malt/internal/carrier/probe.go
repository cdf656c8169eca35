// SPDX-License-Identifier: Apache-2.0

package carrier

// Probe sends a message without content on each open connection that has nothing else to send, and
// passes each one to seen: its rank, the bytes read on it so far, and whether this rank has stopped
// reading on it. Ranks that probe regularly thus find connections that break silently. seen is
// called under the carrier's lock.
func (c *Carrier) Probe(seen func(rank int, read int64, stopped bool)) {
	c.set.Mu.Lock()
	defer c.set.Mu.Unlock()
	if c.over {
		return
	}
	for _, p := range c.peers {
		if p == nil || !p.link.IsOpen() {
			continue
		}
		read, _ := p.link.Counts()
		seen(p.link.Rank, read, p.link.Held()) // before a message wakes the reader, which then holds again
		if !p.busy() {
			p.tell(note{kind: noteProbe})
		}
	}
}
