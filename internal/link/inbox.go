// SPDX-License-Identifier: Apache-2.0

package link

import (
	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/internal/invariant"
)

// ReadAhead is the size of a link's read buffer. It holds the frames of small collectives, so that
// one read returns header and data. Of large chunks all but the first bytes are read to their
// final place.
const ReadAhead = 16 << 10

// inbox decodes the incoming frames of a link, however their bytes are cut.
type inbox struct {
	ahead []byte // bytes that have been read and not decoded
	buf   []byte // their memory
	state state
	frame Frame
	tag   [auth.TagSize]byte // of the frame, where it has one
	body  []byte             // memory for the payload
	got   int                // bytes of the payload in body
	skip  int                // bytes of a dropped chunk that are still to come
	scrap [MaxCall]byte      // memory for a small payload
}

// state is what an inbox waits for.
type state uint8

const (
	inHead  state = iota // the next header
	inPlace              // the handler's memory for a chunk
	inBody               // the rest of a payload
	inCall               // the handler, to take a call
	inChunk              // the handler, to take a chunk
	inSkip               // the rest of a dropped chunk
)

// Space returns the memory for the next bytes of the link. The driver reads into it and calls Filled.
func (l *Link) Space() []byte {
	in := &l.inbox
	if in.state == inBody && len(in.ahead) == 0 {
		return in.body[in.got:]
	}
	if in.buf == nil {
		in.buf = make([]byte, ReadAhead)
	}
	if len(in.ahead) == 0 {
		in.ahead = in.buf[:0]
	} else if &in.ahead[0] != &in.buf[0] {
		in.ahead = in.buf[:copy(in.buf, in.ahead)]
	}
	return in.buf[len(in.ahead):]
}

// Filled notes that n bytes were read into the memory of Space.
func (l *Link) Filled(n int) {
	in := &l.inbox
	l.CountIn(n)
	if in.state == inBody && len(in.ahead) == 0 {
		in.got += n
		if invariant.Enabled {
			invariant.Check(in.got <= len(in.body), "link: %d bytes have come for %d bytes of a frame of %s", in.got, len(in.body), RankAt(l.Rank, l.Host))
		}
		return
	}
	in.ahead = in.buf[:len(in.ahead)+n]
}

// Digest decodes the bytes that have been read. held: the handler must go on first, and the driver calls
// Digest again after the next Wake.
func (l *Link) Digest() (held bool, err error) {
	if l.set.muted.Load() {
		l.set.Mu.Lock()
		defer l.set.Mu.Unlock()
		l.waiting = true
		return true, nil
	}
	for {
		more, held, err := l.digestOne()
		if held || err != nil || !more {
			return held, err
		}
	}
}

// digestOne does the next step. more: there may be another one.
func (l *Link) digestOne() (more, held bool, err error) {
	in := &l.inbox
	switch in.state {
	case inSkip:
		n := min(in.skip, len(in.ahead))
		in.skip -= n
		in.ahead = in.ahead[n:]
		if in.skip > 0 {
			return false, false, nil
		}
		in.state = inHead
		return true, false, nil
	case inCall:
		return l.enterCall()
	case inChunk:
		return l.takeChunk()
	case inPlace:
		return l.placeChunk()
	case inBody:
		n := copy(in.body[in.got:], in.ahead)
		in.got += n
		in.ahead = in.ahead[n:]
		if in.got < len(in.body) {
			return false, false, nil
		}
		return l.finishFrame()
	}
	head := l.Tags.HeadSize()
	if len(in.ahead) < head {
		return false, false, nil
	}
	if in.frame, err = DecodeFrame(in.ahead, l.Tags.In != nil); err != nil {
		return false, false, &CorruptError{err}
	}
	if l.Tags.In != nil {
		copy(in.tag[:], in.ahead[LeadSize:])
	}
	in.ahead = in.ahead[head:]
	n := int(in.frame.Length)
	switch {
	case in.frame.Kind == FrameData:
		return l.placeChunk()
	case n <= len(in.scrap):
		in.body = in.scrap[:n]
	default:
		in.body = make([]byte, n) // a fault, of which a link has one
	}
	in.got, in.state = 0, inBody
	return true, false, nil
}

// placeChunk asks the handler for the memory of a chunk.
func (l *Link) placeChunk() (more, held bool, err error) {
	in, s := &l.inbox, l.set
	n := int(in.frame.Length)
	s.Mu.Lock()
	dst, v, err := l.Handler.Expect(n)
	if v == Wait && err == nil {
		l.waiting = true
	}
	s.Mu.Unlock()
	switch {
	case err != nil:
		return false, false, err
	case v == Wait:
		in.state = inPlace
		return false, true, nil
	case v == Drop:
		if l.Tags.In != nil {
			l.Tags.In.Skip()
		}
		in.skip, in.state = n, inSkip
		return true, false, nil
	}
	in.body, in.got, in.state = dst, 0, inBody
	return true, false, nil
}

// finishFrame verifies a frame that has arrived as a whole, and takes it.
func (l *Link) finishFrame() (more, held bool, err error) {
	in := &l.inbox
	body := in.body
	if err := l.Tags.Check(in.frame, in.tag[:], body); err != nil {
		return false, false, &CorruptError{err}
	}
	switch in.frame.Kind {
	case FrameData:
		in.state = inChunk
		return l.takeChunk()
	case FrameCall:
		in.state = inCall
		return l.enterCall()
	}
	in.state, in.body = inHead, nil
	switch in.frame.Kind {
	case FrameFault:
		return false, false, l.Handler.Fault(body)
	case FrameProgress:
		l.set.Mu.Lock()
		defer l.set.Mu.Unlock()
		return true, false, l.Handler.Progress(body)
	}
	return true, false, l.receiveUpgrade(in.frame.Kind, body)
}

// enterCall gives the handler the header of a call.
func (l *Link) enterCall() (more, held bool, err error) {
	in := &l.inbox
	l.set.Mu.Lock()
	defer l.set.Mu.Unlock()
	v, err := l.Handler.Call(in.body)
	switch {
	case err != nil:
		return false, false, err
	case v == Wait:
		l.waiting = true
		return false, true, nil
	}
	in.state, in.body = inHead, nil
	return true, false, nil
}

// takeChunk gives the handler a chunk that has been verified.
func (l *Link) takeChunk() (more, held bool, err error) {
	in := &l.inbox
	if l.Handler.Received(in.body, in.frame) == Wait {
		return false, true, nil
	}
	in.state, in.body = inHead, nil
	return true, false, nil
}
