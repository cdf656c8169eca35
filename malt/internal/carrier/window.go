// SPDX-License-Identifier: Apache-2.0

package carrier

import (
	"fmt"
	"math"

	"github.com/gvw-project/gvw/internal/crc32c"
	"github.com/gvw-project/gvw/malt/internal/mailbox"
)

// window is the mailbox of a receiver, as the sender of an object's updates sees it.
type window struct {
	outbox Outbox
	writer *mailbox.Writer
}

// window opens the mailbox of an offer.
func (p *peer) window(o *object, of offer) (*window, error) {
	q := o.out[p.position]
	switch {
	case !p.met:
		return nil, fmt.Errorf("a mailbox for %s was offered, and this rank has no memory in common with rank %d", o.Name, p.link.Rank)
	case q == nil || q.opened != nil:
		return nil, fmt.Errorf("a mailbox for %s from rank %d, to which the graph does not send, or which has one", o.Name, p.link.Rank)
	case of.layout.Payload < o.Size:
		return nil, fmt.Errorf("a mailbox for updates of %s of %d bytes, want %d", o.Name, of.layout.Payload, o.Size)
	}
	if err := of.layout.Validate(); err != nil {
		return nil, err
	}
	slot := mailbox.Layout{Payload: o.Size}.Stride() // not of.layout's, whose updates may be larger
	outbox, err := p.remote.Open(of.layout.Size(), slot, o.Queue, of.location)
	if err != nil {
		return nil, err
	}
	writer, err := mailbox.NewWriter(outbox, of.layout, of.key)
	if err != nil {
		outbox.Close()
		return nil, err
	}
	return &window{outbox, writer}, nil
}

// write begins an update of size bytes in all windows, or in none.
func begin(windows []*window, size int) error {
	for i, w := range windows {
		if err := w.writer.Begin(size); err != nil {
			for _, begun := range windows[:i] {
				begun.writer.Abandon()
			}
			return err
		}
	}
	return nil
}

// blockSize is the number of bytes that are read once for all receivers of an update. They fit into the
// second-level cache, and are just enough for a copy that does not read its destination into the caches: with
// 256 KiB a scatter is half as fast.
const blockSize = 1 << 20

// spread writes b to all windows and, with keep, behind dst. It returns dst, and the checksum of what sum is the checksum
// of, followed by b.
func spread(windows []*window, dst []byte, keep bool, sum uint32, b []byte) ([]byte, uint32) {
	for len(b) > 0 {
		block := b[:min(len(b), blockSize)]
		b = b[len(block):]
		sum = crc32c.Update(sum, block)
		for _, w := range windows {
			w.writer.Write(block)
		}
		if keep {
			dst = append(dst, block...)
		}
	}
	return dst, sum
}

// end completes the update in all windows.
func end(windows []*window, h Head, sum uint32) error {
	for _, w := range windows {
		if err := w.writer.End(mailHead(h), sum); err != nil {
			return err
		}
	}
	return nil
}

// mailHead returns the head of an update in a mailbox.
func mailHead(h Head) mailbox.Head {
	return mailbox.Head{Round: h.Round, Sent: h.Sent, Tags: [2]uint64{h.Iteration, math.Float64bits(h.Scale)}}
}

// headOf is the inverse of mailHead.
func headOf(h mailbox.Head) Head {
	return Head{Round: h.Round, Sent: h.Sent, Iteration: h.Tags[0], Scale: math.Float64frombits(h.Tags[1])}
}
