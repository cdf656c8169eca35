// SPDX-License-Identifier: Apache-2.0

package carrier

import (
	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/malt/internal/mailbox"
)

// Memory is a way to write updates into the memory of one other rank without its help. The carrier calls its
// methods one at a time, except for Stop.
type Memory interface {
	// Name is that of the way, for messages.
	Name() string
	// Hello returns what the other rank's Meet needs, 1 to MaxHello bytes.
	Hello() ([]byte, error)
	// Meet takes the other rank's Hello. An error means that the ranks have no such memory in common. arrived
	// is called, by any goroutine, when something written to an Outbox has arrived, or with the error that ends all
	// writes to the rank.
	Meet(theirs []byte, arrived func(error)) error
	// Make makes memory of size bytes or more for the rank's updates, zero at first, and returns what its Open
	// needs, at most MaxOffer bytes.
	Make(size int) (Inbox, []byte, error)
	// Open opens memory that the rank has made. At most queue updates may be on their way to it, of at most slot
	// bytes each, with header and trailer.
	Open(size, slot, queue int, offer []byte) (Outbox, error)
	// Stop ends all writes: afterwards the rank cannot change this rank's memory, where the way can enforce that.
	// Inboxes remain readable until they are closed.
	Stop()
}

// Inbox is memory of this rank that another rank writes.
type Inbox interface {
	mailbox.Memory
	Opened() // the other rank has opened it, or never will
	Close() error
}

// Outbox is memory of another rank that this one writes.
type Outbox interface {
	mailbox.Target
	Room() bool    // an update can be written now
	Arrived() bool // all that was written has arrived
	Close() error
}

const (
	// MaxHello is the largest result of Memory.Hello, in bytes.
	MaxHello = MaxDescription
	// MaxOffer is the largest offer of Memory.Make, in bytes.
	MaxOffer = link.MaxCall - offerSize
)

// do queues a step of the agreement with the peer, which may take long. Steps of a peer run one after the other,
// without the lock. The lock is held.
func (p *peer) do(step func()) {
	if p.c.over {
		return
	}
	p.steps = append(p.steps, step)
	if len(p.steps) > 1 {
		return // the goroutine will do it
	}
	p.c.work.Go(func() {
		mu := &p.c.set.Mu
		mu.Lock()
		defer mu.Unlock()
		for len(p.steps) > 0 && !p.c.over {
			step := p.steps[0]
			mu.Unlock()
			step()
			mu.Lock()
			p.steps = p.steps[1:]
		}
	})
}

// stay notes that updates for and from the peer go over the link.
func (p *peer) stay(err error) {
	p.c.Log.Warn("updates go over the connection", "rank", p.c.Rank, "peer", p.link.Rank, "without", p.remote.Name(), "err", err)
}

// greet makes this rank's Hello due.
func (p *peer) greet() {
	hello, err := p.remote.Hello()
	if err != nil {
		p.stay(err) // the peer waits for nothing
		return
	}
	p.c.set.Mu.Lock()
	defer p.c.set.Mu.Unlock()
	p.greeted = true
	p.calls = append(p.calls, appendHello(nil, hello))
	p.poke()
}

// meet takes the peer's Hello, and offers mailboxes for all objects.
func (p *peer) meet(theirs []byte) {
	if !p.greeted {
		return
	}
	if err := p.remote.Meet(theirs, p.arrived); err != nil {
		p.stay(err)
		return
	}
	p.c.set.Mu.Lock()
	defer p.c.set.Mu.Unlock()
	p.met = true
	for _, o := range p.c.objects {
		p.offer(o)
	}
}

// register makes a mailbox for updates of a new object, and takes early offers. The lock is held.
func (p *peer) register(o *object) {
	p.offer(o)
	kept := p.early[:0]
	for _, of := range p.early {
		if of.object != o.ID {
			kept = append(kept, of)
			continue
		}
		p.do(func() { p.open(o, of) })
	}
	p.early = kept
}

// offer makes a mailbox for updates of an object, if the peer sends some. The lock is held.
func (p *peer) offer(o *object) {
	q := o.in[p.position]
	if !p.met || q == nil {
		return
	}
	p.do(func() {
		b, call, err := newBox(p.remote, o.Spec)
		if err != nil {
			p.stay(err)
			return
		}
		p.c.set.Mu.Lock()
		defer p.c.set.Mu.Unlock()
		q.box = b
		p.calls = append(p.calls, call)
		p.poke()
	})
}

// open opens a mailbox of the peer for an object's updates.
func (p *peer) open(o *object, of offer) {
	w, err := p.window(o, of)
	if err != nil {
		p.stay(err)
	}
	p.c.set.Mu.Lock()
	defer p.c.set.Mu.Unlock()
	if err != nil {
		p.tell(note{noteRefuse, o.ID, 0})
		return
	}
	o.out[p.position].opened = w // the next Send begins to use it
}

// arrived is called when writes to the peer's memory have arrived, or have failed.
func (p *peer) arrived(err error) {
	c := p.c
	c.set.Mu.Lock()
	defer c.set.Mu.Unlock()
	if c.over {
		return
	}
	if err != nil {
		c.Fail(p.link.Rank, err)
		return
	}
	for _, o := range c.objects {
		if q := o.out[p.position]; q != nil {
			p.confirm(o, q)
		}
	}
	p.poke()
	c.wake()
}

// confirm tells the peer about the rounds whose updates have arrived in its memory. The lock is held.
func (p *peer) confirm(o *object, q *sendQueue) {
	if len(q.unconfirmed) == 0 || !q.window.outbox.Arrived() {
		return
	}
	for _, round := range q.unconfirmed {
		p.notes = append(p.notes, note{noteWritten, o.ID, round})
	}
	q.unconfirmed = q.unconfirmed[:0]
	p.poke()
}

// writing reports whether something is on its way to the peer's memory. The lock is held.
func (p *peer) writing() bool {
	if p.remote == nil {
		return false
	}
	for _, o := range p.c.objects {
		if q := o.out[p.position]; q != nil && q.window != nil && !q.window.outbox.Arrived() {
			return true
		}
	}
	return false
}
