// SPDX-License-Identifier: Apache-2.0

package carrier

import (
	"math/rand/v2"

	"github.com/gvw-project/gvw/malt/internal/mailbox"
)

// retries limits how often one Receive looks again for the updates of a sender that overwrites them while
// they are copied.
const retries = 8

// box is the mailbox of one sender of an object. Only the goroutine that receives reads it.
type box struct {
	inbox   Inbox
	reader  *mailbox.Reader
	on      bool             // the sender uses it; under the carrier's lock
	pending []mailbox.Update // found, oldest first, and not merged yet
	private [][]byte         // memory for copies
	used    int              // of private
	late    uint64           // updates that were overwritten, or too old, after they were found
}

// newBox makes a mailbox for the updates of an object, and returns the offer of it.
func newBox(m Memory, s Spec) (*box, []byte, error) {
	of := offer{object: s.ID, key: rand.Uint32(), layout: mailbox.Layout{Depth: s.Depth, Payload: s.Size}}
	if err := of.layout.Validate(); err != nil {
		return nil, nil, err
	}
	inbox, location, err := m.Make(of.layout.Size())
	if err != nil {
		return nil, nil, err
	}
	reader, err := mailbox.NewReader(inbox, of.layout, of.key)
	if err != nil {
		inbox.Close()
		return nil, nil, err
	}
	of.location = location
	return &box{inbox: inbox, reader: reader, pending: make([]mailbox.Update, 0, 2*s.Depth)}, of.append(nil), nil
}

// read appends the updates that are merged now to o.taken. With whole they are copies. It is called without the lock.
func (b *box) read(o *object, from, rank int, whole bool) {
	for try := 0; try < retries; try++ {
		b.pending = b.reader.Updates(b.pending)
		if n := len(b.pending) - o.Depth; n > 0 { // overwritten since
			b.late += uint64(n)
			b.pending = b.pending[:copy(b.pending, b.pending[n:])]
		}
		kept, torn := b.pending[:0], false
		for _, u := range b.pending {
			switch {
			case o.pace.Accepts(from, int(u.Round)):
				a := Arrival{Head: headOf(u.Head), From: rank, Data: u.Payload, box: b, update: u}
				damaged := b.reader.Stats().Damaged
				switch {
				case whole && a.Own() || !whole && b.reader.Intact(u):
					o.taken = append(o.taken, a)
				case b.reader.Stats().Damaged == damaged:
					b.late++
					torn = true
				}
			case int(u.Round) > o.pace.Round():
				kept = append(kept, u)
			default:
				b.late++
			}
		}
		b.pending = kept
		if !torn {
			return
		}
	}
}

// Own makes Data a copy of what the sender wrote, and reports whether that is possible. It is not if the sender
// has overwritten the update meanwhile.
func (a *Arrival) Own() bool {
	b := a.box
	if b == nil || a.owned {
		return true
	}
	if b.used == len(b.private) {
		b.private = append(b.private, nil)
	}
	data, ok := b.reader.Copy(b.private[b.used], a.update)
	b.private[b.used] = data
	if ok {
		b.used++
		a.Data, a.owned = data, true
	}
	return ok
}

// Shared reports whether the sender may overwrite Data at any time.
func (a *Arrival) Shared() bool { return a.box != nil && !a.owned }

// stats returns the counts of a mailbox.
func (b *box) stats() Stats {
	s := b.reader.Stats()
	return Stats{Received: s.Read + s.Overwritten, Overwritten: s.Overwritten + b.late, Damaged: s.Damaged}
}
