// SPDX-License-Identifier: Apache-2.0

package carrier

import (
	"bytes"
	"fmt"

	"github.com/gvw-project/gvw/internal/crc32c"
	"github.com/gvw-project/gvw/internal/link"
)

// chunkSize is the size of the frames into which an update is cut, in bytes. Acknowledgements pass between them.
const chunkSize = 256 << 10

// peer is another rank, and the handler of the link to it. All but the parts of the goroutine that reads is
// under the carrier's lock.
type peer struct {
	c        *Carrier
	position int
	link     *link.Link

	// The outgoing side.
	turn     uint32   // the object that was last served
	current  outgoing // the update that is being written; buf nil: none
	at       int      // its bytes that are written
	chunk    int      // its bytes that are being written
	describe []uint32 // objects whose description is due
	calls    [][]byte // other calls that are due
	notes    []note   // what precedes the updates
	later    []note   // what follows the updates
	reached  bool     // the connection has been asked for

	counted counted

	// The agreement on memory.
	remote  Memory // nil: all updates go over the link
	greeted bool   // Hello is due or was sent; for the goroutine of steps
	met     bool   // both ranks can offer mailboxes
	steps   []func()
	early   []offer // for objects that this rank has not registered

	// The incoming side; only for the goroutine that reads.
	incoming updateHead
	sum      uint32 // of its bytes that have arrived
	queue    *receiveQueue
	memory   []byte
	filled   int
	scratch  [link.MaxCall]byte
}

// maxEarly bounds what a carrier keeps about objects that this rank has not registered.
const maxEarly = 1 << 12

var _ link.Handler = (*peer)(nil)

// tell makes a note due.
func (p *peer) tell(n note) {
	p.notes = append(p.notes, n)
	p.poke()
}

// tellLater makes a note due after the updates that are queued now.
func (p *peer) tellLater(n note) {
	p.later = append(p.later, n)
	p.poke()
}

// poke wakes the writer of an open link.
func (p *peer) poke() {
	if p.link.IsOpen() {
		p.link.Wake()
	}
}

// busy reports whether something is queued or being written.
func (p *peer) busy() bool {
	return p.current.buf != nil || len(p.describe)+len(p.calls)+len(p.notes)+len(p.later) > 0 || p.queued()
}

// edges reports whether the graph of some object sends to this peer, and from it.
func (p *peer) edges() (to, from bool) {
	for _, o := range p.c.objects {
		to = to || o.out[p.position] != nil
		from = from || o.in[p.position] != nil
	}
	return to, from
}

// queued reports whether an update is queued.
func (p *peer) queued() bool {
	for _, o := range p.c.objects {
		if q := o.out[p.position]; q != nil && len(q.updates) > 0 {
			return true
		}
	}
	return false
}

// next chooses the next update: of the object after the one that was served last.
func (p *peer) next() bool {
	best, first := uint32(0), uint32(0)
	found, any := false, false
	for id, o := range p.c.objects {
		if q := o.out[p.position]; q == nil || len(q.updates) == 0 {
			continue
		}
		if !any || id < first {
			first, any = id, true
		}
		if id > p.turn && (!found || id < best) {
			best, found = id, true
		}
	}
	if !any {
		return false
	}
	if !found {
		best = first
	}
	o := p.c.objects[best]
	p.turn, p.current, p.at = best, o.out[p.position].pop(), 0
	return true
}

// Next returns the next chunk of an update.
func (p *peer) Next() (link.Chunk, bool) {
	if len(p.describe)+len(p.calls)+len(p.notes) > 0 {
		return link.Chunk{}, false // Sign has something
	}
	var c link.Chunk
	if p.current.buf == nil {
		if !p.next() {
			return c, false
		}
		c.Call = p.current.head.append(p.scratch[:0])
	}
	p.chunk = min(chunkSize, len(p.current.buf.data)-p.at)
	c.Data, c.Summed = p.current.buf.data[p.at:p.at+p.chunk], true
	return c, true
}

// Summed is not called: frames have no checksums.
func (p *peer) Summed(uint32) {}

// Written notes that a chunk has been written.
func (p *peer) Written() {
	p.c.set.Mu.Lock()
	defer p.c.set.Mu.Unlock()
	if p.at += p.chunk; p.at < len(p.current.buf.data) {
		return
	}
	p.c.objects[p.current.head.object].sent++
	p.current.buf.release()
	p.current = outgoing{}
	p.c.wake() // there is room in a queue
}

// Sign returns the next message without data.
func (p *peer) Sign() (kind byte, payload []byte) {
	switch {
	case len(p.describe) > 0:
		o := p.c.objects[p.describe[0]]
		p.describe = p.describe[1:]
		return link.FrameCall, appendDescribe(p.scratch[:0], o.ID, o.Description)
	case len(p.calls) > 0:
		call := append(p.scratch[:0], p.calls[0]...)
		p.calls = p.calls[1:]
		return link.FrameCall, call
	case len(p.notes) > 0:
		n := p.notes[0]
		p.notes = p.notes[:copy(p.notes, p.notes[1:])]
		return link.FrameProgress, n.append(p.scratch[:0])
	case len(p.later) > 0 && p.current.buf == nil && !p.queued() && !p.writing():
		n := p.later[0]
		p.later = p.later[:copy(p.later, p.later[1:])]
		return link.FrameProgress, n.append(p.scratch[:0])
	}
	p.c.wake() // all is written: Flush may wait for it
	return 0, nil
}

// Call takes the head of an update, or the description of an object.
func (p *peer) Call(payload []byte) (link.Verdict, error) {
	if len(payload) > 0 {
		switch payload[0] {
		case callDescribe:
			return link.Take, p.described(payload)
		case callHello:
			hello, err := decodeHello(payload)
			if p.remote != nil && err == nil {
				theirs := bytes.Clone(hello)
				p.do(func() { p.meet(theirs) })
			}
			return link.Take, err
		case callOffer:
			return link.Take, p.offered(payload)
		}
	}
	h, err := decodeUpdate(payload)
	if err != nil {
		return link.Take, err
	}
	o := p.c.objects[h.object]
	if o == nil {
		return link.Wait, nil // this rank has not created it yet
	}
	q := o.in[p.position]
	switch {
	case p.queue != nil:
		return link.Take, fmt.Errorf("an update began before the last one was complete")
	case q == nil:
		return link.Take, fmt.Errorf("an update of %s, which the graph does not send from rank %d to rank %d", o.Name, p.link.Rank, p.c.Rank)
	case h.size < 1 || h.size > uint64(o.Size):
		return link.Take, fmt.Errorf("an update of %s with %d bytes, want 1 to %d", o.Name, h.size, o.Size)
	}
	p.incoming, p.queue, p.filled, p.sum = h, q, 0, 0
	p.memory = q.memory(int(h.size), o.Size)
	return link.Take, nil
}

// described takes the description of an object.
func (p *peer) described(payload []byte) error {
	id, text, err := decodeDescribe(payload)
	if err != nil {
		return err
	}
	text = bytes.Clone(text)
	if o := p.c.objects[id]; o != nil {
		if err := o.mismatch(p.c.Rank, p.link.Rank, text, p.c.Explain); err != nil {
			p.c.Fail(-1, err)
		}
	}
	if len(p.c.described[id]) < len(p.c.peers) && len(p.c.described) < maxEarly {
		p.c.described[id] = append(p.c.described[id], described{p.link.Rank, text})
	}
	return nil
}

// offered takes the offer of a mailbox. It does not wait for the object: what follows on the link may be a barrier
// that this rank passes first.
func (p *peer) offered(payload []byte) error {
	of, err := decodeOffer(payload)
	switch {
	case err != nil:
		return err
	case p.remote == nil:
		return fmt.Errorf("rank %d offers a mailbox, to which this rank has not agreed", p.link.Rank)
	}
	of.location = bytes.Clone(of.location)
	if o := p.c.objects[of.object]; o != nil {
		p.do(func() { p.open(o, of) })
	} else if len(p.early) < maxEarly {
		p.early = append(p.early, of)
	}
	return nil
}

// Expect returns the memory for a chunk.
func (p *peer) Expect(n int) ([]byte, link.Verdict, error) {
	if p.queue == nil || n > len(p.memory)-p.filled {
		return nil, link.Take, fmt.Errorf("a chunk of %d bytes that belongs to no update", n)
	}
	return p.memory[p.filled : p.filled+n], link.Take, nil
}

// Received completes an update with its last chunk.
func (p *peer) Received(data []byte, _ link.Frame) link.Verdict {
	p.sum = crc32c.Update(p.sum, data) // while it is in the caches
	if p.filled += len(data); p.filled < len(p.memory) {
		return link.Take
	}
	intact := p.sum == p.incoming.sum
	p.c.set.Mu.Lock()
	defer p.c.set.Mu.Unlock()
	o := p.c.objects[p.incoming.object]
	if intact {
		p.queue.push(Arrival{Head: p.incoming.Head, From: p.link.Rank, Data: p.memory})
	} else {
		p.queue.damaged++
		p.queue.recycle(p.memory)
		p.c.Log.Warn("dropped a damaged update", "rank", p.c.Rank, "from", p.link.Rank, "object", o.Name, "round", p.incoming.Round)
	}
	// A damaged update counts as arrived: no rank waits for it for ever.
	p.hasArrived(o, p.incoming.Round)
	p.queue, p.memory = nil, nil
	p.c.wake()
	return link.Take
}

// hasArrived notes that an update has arrived. The lock is held.
func (p *peer) hasArrived(o *object, round uint64) {
	if o.pace.Arrived(p.position, int(round)) {
		p.tell(note{noteAck, o.ID, round})
	}
}

// Progress takes an acknowledgement, or a message of a barrier.
func (p *peer) Progress(payload []byte) error {
	n, err := decodeNote(payload)
	if err != nil {
		return err
	}
	c := p.c
	switch n.kind {
	case noteProbe:
		return nil // its bytes are counted
	case noteSent, noteUp, noteDown:
		return c.heard(p.position, n)
	default:
		o := c.objects[n.object]
		switch {
		case n.kind == noteAck && o == nil:
			return fmt.Errorf("an acknowledgement of object %d, which does not exist", n.object)
		case n.kind == noteAck:
			o.pace.Acked(p.position, int(n.number))
		case n.kind >= noteSwitch:
			return p.boxNote(o, n)
		case o != nil:
			o.pace.Left(p.position)
		case len(c.left[n.object]) < len(c.peers) && len(c.left) < maxEarly:
			c.left[n.object] = append(c.left[n.object], p.position)
		}
	}
	c.wake()
	return nil
}

// boxNote takes a note about the mailbox of an object.
func (p *peer) boxNote(o *object, n note) error {
	if o == nil || o.in[p.position] == nil || o.in[p.position].box == nil {
		return fmt.Errorf("a note about a mailbox for object %d, which was not offered", n.object)
	}
	switch b := o.in[p.position].box; {
	case n.kind == noteWritten:
		p.hasArrived(o, n.number)
	case b.on:
		return fmt.Errorf("a second answer to the offer of a mailbox for %s", o.Name)
	case n.kind == noteSwitch:
		b.on = true
		b.inbox.Opened()
	default:
		o.in[p.position].box = nil
		return b.inbox.Close()
	}
	p.c.wake()
	return nil
}

// Fault takes the last words of a rank, which this carrier never sends.
func (p *peer) Fault([]byte) error {
	return fmt.Errorf("a fault frame, which this protocol does not have")
}

// Due reports that data may arrive at any time.
func (p *peer) Due() bool { return true }

// SharesMemory returns false: there are no rings here.
func (p *peer) SharesMemory() bool { return false }

// InUse returns true.
func (p *peer) InUse() bool { return true }
