// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"github.com/gvw-project/gvw/internal/invariant"
	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/internal/timeline"
)

// Next returns the next part to write, if one may go now. It is called under the lock.
func (e *Edge) Next() (chunk link.Chunk, ok bool) {
	en := e.en
	if !en.Active || e.at == noPeer || en.Stream && en.mayNotSend(e) {
		return link.Chunk{}, false
	}
	c := &en.Call
	m, ok := c.run.NextSend(e.at)
	if !ok {
		return link.Chunk{}, false
	}
	e.sending, e.sendingSeq, e.went = m, c.ID.Seq, en.Timeline.Now()
	from := c.dst
	if m.Own {
		from = c.src // it may be longer than what this rank receives
	}
	chunk.Data = from[m.Lo:m.Hi]
	if en.Stream {
		return chunk, true
	}
	if e.begun != c.ID.Seq {
		e.begun = c.ID.Seq
		chunk.Call = c.wire
	}
	if !en.NoSum && !m.Own {
		chunk.Sum, chunk.Summed = c.sums.find(m.Lo, m.Hi)
	}
	return chunk, true
}

// Summed remembers the checksum of the part of the last Next.
func (e *Edge) Summed(sum uint32) {
	if m := &e.sending; !m.Own {
		e.en.Mu.Lock()
		defer e.en.Mu.Unlock()
		e.en.Call.sums.set(m.Lo, m.Hi, sum)
	}
}

// Written notes that the part of the last Next has been written.
func (e *Edge) Written() {
	en := e.en
	en.Mu.Lock()
	defer en.Mu.Unlock()
	if en.Failure == nil && en.Active && en.Call.ID.Seq == e.sendingSeq {
		if invariant.Enabled {
			next, may := en.Call.run.NextSend(e.at)
			invariant.Check(may && next == e.sending, "engine: wrote the part %+v for %s, want %+v (allowed: %v)", e.sending, link.RankAt(e.Rank, e.Host), next, may)
		}
		e.record(timeline.Sends, e.went, e.sending.Hi-e.sending.Lo)
		en.Call.run.Sent(e.at)
		en.progress()
	}
}

// Sign returns a sign of life, if one is due: the header of the collective, and when the
// peer has entered it, a progress frame. It is called under the lock.
func (e *Edge) Sign() (kind byte, payload []byte) {
	en := e.en
	due := e.due && en.Active
	e.due = false
	switch {
	case !due:
	case e.begun != en.Call.ID.Seq:
		e.begun = en.Call.ID.Seq
		return link.FrameCall, en.Call.wire
	case e.entered >= en.Call.ID.Seq:
		_, far := en.WaitsFor()
		return link.FrameProgress, far.appendTo(nil)
	}
	return 0, nil
}
