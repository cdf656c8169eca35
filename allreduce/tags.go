// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"fmt"

	"github.com/gvw-project/gvw/allreduce/auth"
)

// tags are those of an edge's frames, a sequence in each direction; nil: its frames have
// checksums. A direction that has turned to a pipe has checksums: nobody is on the way.
type tags struct{ in, out *auth.Tags }

// tags of the edge over which x was said, where this rank was that side.
func (w *wirer) tags(x auth.Exchange, as auth.Role) tags {
	if !w.tagged {
		return tags{}
	}
	return tags{in: x.Tags(as.Other()), out: x.Tags(as)}
}

// lead is the part of a frame's header that its tag covers beside the bytes that follow;
// their number is covered as well, by being that of these bytes.
func (f frame) lead() uint32 {
	return uint32(f.kind) | uint32(f.flags)<<8
}

func (f frame) what() string {
	if f.kind == frameData {
		return "part"
	}
	return "frame"
}

// headSize is how many bytes the next frame from the peer has before those that follow.
func (e *edge) headSize() int {
	if e.tags.in != nil {
		return tagFrameSize
	}
	return frameSize
}

// appendFrame appends a whole frame for the peer.
func (e *edge) appendFrame(dst []byte, kind byte, payload []byte) []byte {
	if e.tags.out == nil {
		return appendFrame(dst, kind, payload)
	}
	return append(e.appendTagged(dst, kind, payload), payload...)
}

// appendTagged appends the header of a frame whose bytes are in payload, with their tag.
func (e *edge) appendTagged(dst []byte, kind byte, payload []byte) []byte {
	f := frame{kind: kind, flags: flagTag, length: uint32(len(payload))}
	return e.tags.out.Append(f.appendLead(dst), f.lead(), payload)
}

// check says what is wrong with the bytes of the frame that is there as a whole.
func (e *edge) check(body []byte) error {
	in := &e.inbox
	switch {
	case e.tags.in != nil:
		if !e.tags.in.Accept(in.tag[:], in.frame.lead(), body) {
			return fmt.Errorf("the tag of a %s is wrong: bytes were changed on the way, left out or put in", in.frame.what())
		}
	case in.frame.flags&flagSum != 0 && checksum(body) != in.frame.sum:
		return fmt.Errorf("the checksum of a %s is wrong: a bit was flipped on the way", in.frame.what())
	}
	return nil
}
