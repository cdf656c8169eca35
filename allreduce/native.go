// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"errors"
	"fmt"
	"io"
)

// readFrames is the reader of an edge of a native job. It returns why it ended,
// or nil when the job has failed already.
func (e *edge) readFrames() *failure {
	for {
		f, fault := e.nextFrame()
		if fault != nil {
			return fault
		}
		if f.kind != frameCall {
			return e.unexpected()
		}
		wire := e.scrap[frameSize : frameSize+f.length]
		if err := checkCall(wire); err != nil {
			return e.garbled(err)
		}
		parts, fault := e.en.meet(e, wire)
		if fault != nil {
			return fault
		}
		for range parts {
			if fault := e.readPart(); fault != nil {
				return fault
			}
		}
	}
}

// readPart reads one data frame and hands it over.
func (e *edge) readPart() *failure {
	f, fault := e.nextFrame()
	if fault != nil {
		return fault
	}
	if f.kind != frameData {
		return e.unexpected()
	}
	r, buf, ok := e.en.expect(e)
	if !ok {
		return e.drain(int64(f.length))
	}
	if int(f.length) != len(buf) {
		return e.garbled(fmt.Errorf("got a part of %d bytes, want %d", f.length, len(buf)))
	}
	if _, err := io.ReadFull(e.br, buf); err != nil {
		return e.lost(err)
	}
	sum := partSum{known: f.flags&flagSum != 0, sum: f.sum}
	if sum.known && checksum(buf) != f.sum {
		return e.garbled(errors.New("the checksum of a part is wrong: a bit was flipped on the way"))
	}
	e.en.arrived(e, r, sum)
	return nil
}

// nextFrame reads the header of the next call or data frame; the payload of a call
// follows in scrap. Notes and faults it takes itself.
func (e *edge) nextFrame() (frame, *failure) {
	for {
		if _, err := io.ReadFull(e.br, e.scrap[:frameSize]); err != nil {
			return frame{}, e.lost(err)
		}
		f, err := decodeFrame(e.scrap)
		if err != nil {
			return f, e.garbled(err)
		}
		if f.kind == frameData {
			return f, nil
		}
		payload := e.scrap[frameSize:]
		if f.kind == frameFault {
			payload = make([]byte, f.length)
		}
		payload = payload[:f.length]
		if _, err := io.ReadFull(e.br, payload); err != nil {
			return f, e.lost(err)
		}
		if checksum(payload) != f.sum {
			return f, e.garbled(errors.New("the checksum of a frame is wrong: a bit was flipped on the way"))
		}
		switch f.kind {
		case frameCall:
			return f, nil
		case frameFault:
			fault, err := decodeFailure(payload)
			if err != nil {
				return f, e.garbled(err)
			}
			return f, fault
		case frameNote:
			n, err := decodeNote(payload)
			if err != nil {
				return f, e.garbled(err)
			}
			e.en.noted(e, n)
		}
	}
}

// drain follows a failed write, or the end of everything: it throws away what
// comes until it knows why. n bytes of data are next.
func (e *edge) drain(n int64) *failure {
	e.en.mu.Lock()
	over := e.en.stopped()
	e.en.mu.Unlock()
	if over {
		return nil
	}
	for {
		if _, err := io.CopyN(io.Discard, e.br, n); err != nil {
			return e.lost(err)
		}
		f, fault := e.nextFrame()
		if fault != nil {
			return fault
		}
		n = 0
		if f.kind == frameData {
			n = int64(f.length)
		}
	}
}

// unexpected is the failure that the peer sends data which this rank's calls
// have no place for.
func (e *edge) unexpected() *failure {
	en := e.en
	en.mu.Lock()
	defer en.mu.Unlock()
	if len(e.stale) > 0 {
		return en.mismatch(e, en.call.id, e.stale)
	}
	return e.garbled(errors.New("a frame that has no place in this rank's collectives: do all ranks make the same calls in the same order?"))
}

// meet compares the collective that the peer has entered with this rank's, once
// it is there too, and says how many parts will follow.
func (en *engine) meet(e *edge, theirs []byte) (parts int, fault *failure) {
	seq, digest := callSeq(theirs), callDigest(theirs)
	en.mu.Lock()
	defer en.mu.Unlock()
	e.entered = max(e.entered, seq)
	for {
		if en.stopped() {
			return 0, nil // and the next read ends the reader
		}
		if e.broken {
			en.mu.Unlock()
			fault = e.drain(0)
			en.mu.Lock()
			return 0, fault
		}
		ours := &en.call.id
		switch {
		case seq < ours.seq:
			// A header that crossed with ours, for a call that was over here.
			e.stale = append(e.stale[:0], theirs...)
			if en.before.seq == seq && digest != callDigest(en.before.appendTo(nil)) {
				return 0, en.mismatch(e, en.before, theirs)
			}
			return 0, nil
		case seq == ours.seq && digest != callDigest(en.call.wire):
			return 0, en.mismatch(e, *ours, theirs)
		case seq == ours.seq && en.active:
			return en.call.flow.Incoming(e.index), nil
		case seq == ours.seq:
			return 0, nil
		}
		en.park(e)
	}
}

// mismatch is the failure that this rank and its peer make different calls.
func (en *engine) mismatch(e *edge, ours callID, theirs []byte) *failure {
	return &failure{
		code: faultMismatch, by: en.rank, rank: e.rank, host: e.host,
		calls: [2]callID{ours, decodeCall(theirs)},
	}
}

// noted takes a note.
func (en *engine) noted(e *edge, n note) {
	en.mu.Lock()
	defer en.mu.Unlock()
	e.entered = max(e.entered, n.seq)
	e.note = n
}
