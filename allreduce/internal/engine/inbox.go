// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/internal/invariant"
	"github.com/gvw-project/gvw/internal/kernels"
	"github.com/gvw-project/gvw/internal/link"
)

// readAhead holds the frames of small collectives, so that one read brings header and
// data; of large parts all but their first bytes are read to where they belong.
const readAhead = 16 << 10

// inbox takes the frames of an edge apart as their bytes come, however they are cut.
type inbox struct {
	ahead  []byte // bytes that have been read and not been looked at
	buf    []byte // their memory
	frame  link.Frame
	tag    [auth.TagSize]byte // of the frame, where it has one
	body   []byte             // where the rest of the frame goes
	got    int                // how much of it is there
	inBody bool
	skip   int           // bytes of data that nobody wants
	drop   bool          // so is the data frame that has begun
	move   schedule.Move // what the data is for
	held   []byte        // the header of a collective that this rank has not entered
	heard  uint64        // the collective that data frames belong to
	scrap  [callMax]byte // the rest of a small frame
	slot   []byte        // a part that will be joined
	full   bool          // it is there as a whole, and not joined yet
	stale  []byte        // the last header that came when its call was over here
}

// space is where the next bytes of the edge go. They are for filled.
func (e *Edge) space() []byte {
	in := &e.inbox
	if in.inBody && len(in.ahead) == 0 {
		return in.body[in.got:]
	}
	if in.buf == nil {
		in.buf = make([]byte, readAhead)
	}
	if len(in.ahead) == 0 {
		in.ahead = in.buf[:0]
	} else if &in.ahead[0] != &in.buf[0] {
		in.ahead = in.buf[:copy(in.buf, in.ahead)]
	}
	return in.buf[len(in.ahead):]
}

// filled says that n bytes are there.
func (e *Edge) filled(n int) {
	in := &e.inbox
	e.in.Add(int64(n))
	if in.inBody && len(in.ahead) == 0 {
		in.got += n
		if invariant.Enabled {
			invariant.Check(in.got <= len(in.body), "engine: %d bytes have come for %d bytes of a frame of %s", in.got, len(in.body), link.RankAt(e.Rank, e.Host))
		}
		return
	}
	in.ahead = in.buf[:len(in.ahead)+n]
}

// digest takes apart what is there. held: this rank's own calls must go on first.
func (e *Edge) digest() (held bool, f *Failure) {
	if e.en.mute.Load() {
		return e.muted(), nil
	}
	for {
		more, held, f := e.digestOne()
		if held || f != nil || !more {
			return held, f
		}
	}
}

// digestOne does the next step. more: there may be another one.
func (e *Edge) digestOne() (more, held bool, f *Failure) {
	in := &e.inbox
	switch {
	case in.skip > 0:
		n := min(in.skip, len(in.ahead))
		in.skip -= n
		in.ahead = in.ahead[n:]
		return in.skip == 0, false, nil
	case in.held != nil:
		return e.meet()
	case in.full:
		return e.settlePart()
	case in.inBody:
		n := copy(in.body[in.got:], in.ahead)
		in.got += n
		in.ahead = in.ahead[n:]
		if in.got < len(in.body) {
			return false, false, nil
		}
		in.inBody = false
		return e.finishFrame()
	case in.frame.Kind == 0:
		head := e.Tags.HeadSize()
		if len(in.ahead) < head {
			return false, false, nil
		}
		var err error
		if in.frame, err = link.DecodeFrame(in.ahead, e.Tags.In != nil); err != nil {
			return false, false, e.garbled(err)
		}
		if e.Tags.In != nil {
			copy(in.tag[:], in.ahead[link.LeadSize:])
		}
		in.ahead = in.ahead[head:]
	}
	return e.beginBody()
}

// beginBody finds out where the rest of the frame goes.
func (e *Edge) beginBody() (more, held bool, f *Failure) {
	in := &e.inbox
	n := int(in.frame.Length)
	switch {
	case in.frame.Kind == link.FrameData:
		if more, held, f = e.expect(); !more {
			return more, held, f
		}
		if in.drop {
			if e.Tags.In != nil {
				e.Tags.In.Skip()
			}
			in.drop, in.skip, in.frame.Kind = false, n, 0
			return true, false, nil
		}
	case n <= len(in.scrap):
		in.body = in.scrap[:n]
	default:
		in.body = make([]byte, n) // a fault: there is only one
	}
	in.got, in.inBody = 0, true
	return true, false, nil
}

// expect finds the place of the data frame that has begun, once it may come.
func (e *Edge) expect() (more, held bool, f *Failure) {
	in, en := &e.inbox, e.en
	n := int(in.frame.Length)
	en.Mu.Lock()
	defer en.Mu.Unlock()
	switch {
	case en.stopped():
		e.waiting = true
		return false, true, nil
	case e.broken:
		in.drop = true
		return true, false, nil
	case en.Call.later && in.heard == en.Call.Id.Seq:
		e.waiting = true // this rank's host comes first
		return false, true, nil
	case !en.Active || e.peer == noPeer || in.heard != en.Call.Id.Seq:
		return false, false, e.unexpected()
	}
	c := &en.Call
	m, ok := c.run.Awaits(e.peer)
	if !ok {
		return false, false, e.unexpected()
	}
	if n != m.Hi-m.Lo {
		return false, false, e.garbled(fmt.Errorf("%v: got a part of %d bytes, want %d", &c.Id, n, m.Hi-m.Lo))
	}
	// An operand is read as it comes, also while its place in the result is still being
	// sent: two ranks that exchange the same bytes would else wait for each other.
	if _, ok := c.run.NextReceive(e.peer); !ok && m.Act == schedule.Take {
		e.waiting = true
		return false, true, nil
	}
	in.move, in.body = m, in.place(&m, c, en.Part)
	return true, false, nil
}

// place is where the part of a move goes: to the result, or where it waits to be
// joined with it.
func (in *inbox) place(m *schedule.Move, c *call, part int) []byte {
	n := m.Hi - m.Lo
	if m.Act == schedule.Take {
		return c.dst[m.Lo:m.Hi]
	}
	if len(in.slot) < n {
		in.slot = make([]byte, max(n, min(part, len(c.dst))))
	}
	return in.slot[:n]
}

// finishFrame looks at a frame that is there as a whole.
func (e *Edge) finishFrame() (more, held bool, f *Failure) {
	in := &e.inbox
	kind, body := in.frame.Kind, in.body
	if err := e.Tags.Check(in.frame, in.tag[:], body); err != nil {
		return false, false, e.garbled(err)
	}
	if kind == link.FrameData {
		in.full = true
		return e.settlePart()
	}
	in.frame.Kind, in.body = 0, nil
	switch kind {
	case link.FrameCall:
		if err := checkCall(body); err != nil {
			return false, false, e.garbled(err)
		}
		in.held = body
	case link.FrameFault:
		f, err := DecodeFailure(body)
		if err != nil {
			return false, false, e.garbled(err)
		}
		return false, false, f
	case link.FrameOffer:
		return true, false, e.Offered(body)
	case link.FrameTurn:
		return true, false, e.Turn(body)
	case link.FrameNote:
		n, err := decodeNote(body)
		if err != nil {
			return false, false, e.garbled(err)
		}
		e.en.noted(e, n)
	case link.FrameLift:
		if f := e.hearLift(body); f != nil {
			return false, false, f
		}
		e.liftNews()
	}
	return true, false, nil
}

// settlePart joins the part that is there with the result, once that may be written.
func (e *Edge) settlePart() (more, held bool, f *Failure) {
	in, en := &e.inbox, e.en
	drop := false
	if in.move.Act != schedule.Take {
		en.Mu.Lock()
		may := en.Active && !en.stopped()
		if may {
			_, may = en.Call.run.NextReceive(e.peer)
		}
		e.waiting = e.waiting || !may
		broken := e.broken
		en.Mu.Unlock()
		if !may && !broken {
			return false, true, nil
		}
		drop = !may // it never may; the peer's last words may come after it
	}
	part := in.body
	in.full, in.frame.Kind, in.body = false, 0, nil
	if !drop {
		e.received(part)
	}
	return true, false, nil
}

// received puts a part, whose checksum is right, where it belongs.
func (e *Edge) received(part []byte) {
	in, en := &e.inbox, e.en
	c, m := &en.Call, in.move
	dst := c.dst[m.Lo:m.Hi]
	own := dst
	if m.Own {
		own = c.src[m.Lo:m.Hi]
	}
	switch m.Act {
	case schedule.Below:
		kernels.Combine(c.Id.Kind, c.Id.Op, dst, part, own)
	case schedule.Above:
		kernels.Combine(c.Id.Kind, c.Id.Op, dst, own, part)
	}
	en.Mu.Lock()
	defer en.Mu.Unlock()
	if en.Failure != nil || !en.Active {
		return
	}
	c.received += int64(len(dst))
	if !en.Stream && !en.NoSum {
		c.sums.forget(m.Lo, m.Hi)
		if m.Act == schedule.Take && in.frame.Flags&link.FlagSum != 0 {
			c.sums.set(m.Lo, m.Hi, in.frame.Sum)
		}
	}
	if invariant.Enabled {
		next, may := c.run.NextReceive(e.peer)
		invariant.Check(may && next == m, "engine: got the part %+v of %s, want %+v (allowed: %v)", m, link.RankAt(e.Rank, e.Host), next, may)
	}
	c.run.Received(e.peer)
	en.progress()
}

// meet compares the collective that the peer has entered with this rank's, once
// it is there too.
func (e *Edge) meet() (more, held bool, f *Failure) {
	in, en := &e.inbox, e.en
	theirs := in.held
	seq, digest := callSeq(theirs), callDigest(theirs)
	en.Mu.Lock()
	defer en.Mu.Unlock()
	e.entered = max(e.entered, seq)
	ours := &en.Call.Id
	switch {
	case en.stopped(), seq > ours.Seq && !e.broken:
		e.waiting = true
		return false, true, nil
	case seq < ours.Seq:
		// A header that crossed with ours, for a call that was over here.
		in.stale = append(in.stale[:0], theirs...)
		if en.before.Seq == seq && digest != callDigest(en.before.appendTo(nil)) {
			return false, false, en.mismatch(e, en.before, theirs)
		}
	case seq == ours.Seq && digest != callDigest(en.Call.wire):
		return false, false, en.mismatch(e, *ours, theirs)
	}
	in.heard, in.held = seq, nil
	return true, false, nil
}

// unexpected is the failure that the peer sends data which this rank's calls
// have no place for; under the lock.
func (e *Edge) unexpected() *Failure {
	if in := &e.inbox; len(in.stale) > 0 {
		return e.en.mismatch(e, e.en.Call.Id, in.stale)
	}
	return e.garbled(errors.New("a frame that has no place in this rank's collectives: do all ranks make the same calls in the same order?"))
}

// mismatch is the failure that this rank and its peer make different calls.
func (en *Engine) mismatch(e *Edge, ours CallID, theirs []byte) *Failure {
	return &Failure{
		Code: faultMismatch, By: en.Rank, Rank: e.Rank, Host: e.Host,
		calls: [2]CallID{ours, decodeCall(theirs)},
	}
}

// noted takes a note.
func (en *Engine) noted(e *Edge, n note) {
	en.Mu.Lock()
	defer en.Mu.Unlock()
	e.entered = max(e.entered, n.seq)
	e.note = n
}
