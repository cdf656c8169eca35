// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/internal/invariant"
	"github.com/gvw-project/gvw/internal/kernels"
	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/internal/timeline"
)

// Due reports whether a part may arrive now. Only the goroutine that carries the collective
// calls it, and no other changes the run.
func (e *Edge) Due() bool {
	_, ok := e.en.Call.run.NextReceive(e.at)
	return ok
}

// Call compares the collective that the peer has entered with this rank's, once this rank has
// entered it, too. It is called under the lock.
func (e *Edge) Call(theirs []byte) (link.Verdict, error) {
	if err := checkCall(theirs); err != nil {
		return link.Take, &link.CorruptError{Err: err}
	}
	en := e.en
	seq, digest := callSeq(theirs), callDigest(theirs)
	e.entered = max(e.entered, seq)
	ours := &en.Call.ID
	switch {
	case en.Stopped(), seq > ours.Seq && !e.Broken():
		return link.Wait, nil
	case seq < ours.Seq:
		// The header crossed with ours, for a call that was over here.
		e.stale = append(e.stale[:0], theirs...)
		if en.before.Seq == seq && digest != callDigest(en.before.appendTo(nil)) {
			return link.Take, en.mismatch(e, en.before, theirs)
		}
	case seq == ours.Seq && digest != callDigest(en.Call.wire):
		return link.Take, en.mismatch(e, *ours, theirs)
	}
	e.heard = seq
	return link.Take, nil
}

// Progress stores the peer's progress frame, under the lock.
func (e *Edge) Progress(payload []byte) error {
	n, err := decodeProgress(payload)
	if err != nil {
		return &link.CorruptError{Err: err}
	}
	e.entered = max(e.entered, n.seq)
	e.far = n
	return nil
}

// Fault returns the failure that the peer has sent.
func (e *Edge) Fault(payload []byte) error {
	f, err := DecodeFailure(payload)
	if err != nil {
		return &link.CorruptError{Err: err}
	}
	return f
}

// Expect returns the place of a part of n bytes, once it may come. It is called under the lock.
func (e *Edge) Expect(n int) ([]byte, link.Verdict, error) {
	en := e.en
	c := &en.Call
	switch {
	case en.Stopped():
		return nil, link.Wait, nil
	case e.Broken():
		return nil, link.Drop, nil
	case c.later && e.heard == c.ID.Seq:
		return nil, link.Wait, nil // the sum of this rank's host must be complete first
	case !en.Active || e.at == noPeer || e.heard != c.ID.Seq:
		return nil, link.Take, e.unexpected()
	}
	m, ok := c.run.Awaits(e.at)
	if !ok {
		return nil, link.Take, e.unexpected()
	}
	en.arrives(e)
	if n != m.Hi-m.Lo {
		return nil, link.Take, link.Corrupt("%v: got a part of %d bytes, want %d", &c.ID, n, m.Hi-m.Lo)
	}
	// An operand is read as it comes, also while its place in the result is still being
	// sent. Otherwise two ranks that exchange the same bytes would wait for each other.
	if _, ok := c.run.NextReceive(e.at); !ok && m.Act == schedule.Take {
		return nil, link.Wait, nil
	}
	e.move, e.came = m, en.Timeline.Now()
	return e.place(&m), link.Take, nil
}

// place returns where the part of a move goes: to the result, or to the memory where it waits
// to be joined with the result.
func (e *Edge) place(m *schedule.Move) []byte {
	c := &e.en.Call
	n := m.Hi - m.Lo
	if m.Act == schedule.Take {
		return c.dst[m.Lo:m.Hi]
	}
	if len(e.slot) < n {
		e.slot = make([]byte, max(n, min(e.en.Part, len(c.dst))))
	}
	return e.slot[:n]
}

// Received joins a part with the result, once that may be written.
func (e *Edge) Received(part []byte, f link.Frame) link.Verdict {
	en := e.en
	if e.move.Act != schedule.Take {
		en.Mu.Lock()
		may := en.Active && !en.Stopped()
		if may {
			_, may = en.Call.run.NextReceive(e.at)
		}
		broken := e.Broken()
		if !may {
			e.Hold()
		}
		en.Mu.Unlock()
		switch {
		case !may && broken:
			return link.Drop // the link has failed, but the peer's fault frame may still follow
		case !may:
			return link.Wait
		}
	}
	e.join(part, f)
	return link.Take
}

// join puts a part where it belongs.
func (e *Edge) join(part []byte, f link.Frame) {
	en := e.en
	c, m := &en.Call, e.move
	dst := c.dst[m.Lo:m.Hi]
	own := dst
	if m.Own {
		own = c.src[m.Lo:m.Hi]
	}
	switch m.Act {
	case schedule.Below:
		kernels.Combine(c.ID.Kind, c.ID.Op, dst, part, own)
	case schedule.Above:
		kernels.Combine(c.ID.Kind, c.ID.Op, dst, own, part)
	}
	en.Mu.Lock()
	defer en.Mu.Unlock()
	if en.Failure != nil || !en.Active {
		return
	}
	c.received += int64(len(dst))
	e.record(timeline.Receives, e.came, len(dst))
	if !en.Stream && !en.NoSum {
		c.sums.forget(m.Lo, m.Hi)
		if m.Act == schedule.Take && f.Flags&link.FlagSum != 0 {
			c.sums.set(m.Lo, m.Hi, f.Sum)
		}
	}
	if invariant.Enabled {
		next, may := c.run.NextReceive(e.at)
		invariant.Check(may && next == m, "engine: got the part %+v of %s, want %+v (allowed: %v)", m, link.RankAt(e.Rank, e.Host), next, may)
	}
	c.run.Received(e.at)
	en.progress()
}

// unexpected returns the failure that the peer sends data which no call of this rank expects;
// under the lock.
func (e *Edge) unexpected() error {
	if len(e.stale) > 0 {
		return e.en.mismatch(e, e.en.Call.ID, e.stale)
	}
	return &link.CorruptError{Err: errors.New("a frame that has no place in this rank's collectives: do all ranks make the same calls in the same order?")}
}

// mismatch returns the failure that this rank and its peer make different calls.
func (en *Engine) mismatch(e *Edge, ours CallID, theirs []byte) *Failure {
	return &Failure{
		Code: faultMismatch, By: en.Rank, Rank: e.Rank, Host: e.Host,
		calls: [2]CallID{ours, decodeCall(theirs)},
	}
}
