// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"

	"github.com/gvw-project/gvw/allreduce/auth"
)

// Tags are those of an edge's frames, a sequence in each direction; nil: its frames have
// checksums. A direction that has turned to a pipe has checksums: nobody is on the way.
type Tags struct{ In, Out *auth.Tags }

// TagsOf returns the tags of the edge over which x was said, where this rank was that side.
func TagsOf(x auth.Exchange, as auth.Role) Tags {
	return Tags{In: x.Tags(as.Other()), Out: x.Tags(as)}
}

// lead is the part of a frame's header that its tag covers beside the bytes that follow;
// their number is covered as well, by being that of these bytes.
func (f Frame) lead() uint32 {
	return uint32(f.Kind) | uint32(f.Flags)<<8
}

func (f Frame) what() string {
	if f.Kind == FrameData {
		return "part"
	}
	return "frame"
}

// headSize is how many bytes the next frame from the peer has before those that follow.
func (e *Edge) headSize() int {
	if e.Tags.In != nil {
		return TagFrameSize
	}
	return FrameSize
}

// AppendFrame appends a whole frame for the peer.
func (e *Edge) appendFrame(dst []byte, kind byte, payload []byte) []byte {
	if e.Tags.Out == nil {
		return AppendFrame(dst, kind, payload)
	}
	return append(e.appendTagged(dst, kind, payload), payload...)
}

// appendTagged appends the header of a frame whose bytes are in payload, with their tag.
func (e *Edge) appendTagged(dst []byte, kind byte, payload []byte) []byte {
	f := Frame{Kind: kind, Flags: flagTag, Length: uint32(len(payload))}
	return e.Tags.Out.Append(f.appendLead(dst), f.lead(), payload)
}

// check says what is wrong with the bytes of the frame that is there as a whole.
func (e *Edge) check(body []byte) error {
	in := &e.inbox
	switch {
	case e.Tags.In != nil:
		if !e.Tags.In.Accept(in.tag[:], in.frame.lead(), body) {
			return fmt.Errorf("the tag of a %s is wrong: bytes were changed on the way, left out or put in", in.frame.what())
		}
	case in.frame.Flags&FlagSum != 0 && Checksum(body) != in.frame.Sum:
		return fmt.Errorf("the checksum of a %s is wrong: a bit was flipped on the way", in.frame.what())
	}
	return nil
}
