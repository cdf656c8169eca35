// SPDX-License-Identifier: Apache-2.0

package link

import (
	"fmt"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/internal/crc32c"
)

// Tags are the sequences of tags of a link's two directions. A direction whose sequence is nil has
// checksums instead. A direction that has switched to a shared-memory ring has checksums,
// because no third party can reach the memory.
type Tags struct{ In, Out *auth.Tags }

// TagsOf returns the tags of a link whose handshake was x, with this rank in the role as.
func TagsOf(x auth.Exchange, as auth.Role) Tags {
	return Tags{In: x.Tags(as.Other()), Out: x.Tags(as)}
}

// lead is the part of a frame's header that its tag covers in addition to the payload. The tag
// covers the payload's length as well, because it covers exactly these bytes.
func (f Frame) lead() uint32 {
	return uint32(f.Kind) | uint32(f.Flags)<<8
}

// what names the frame in errors.
func (f Frame) what() string {
	if f.Kind == FrameData {
		return "part"
	}
	return "frame"
}

// HeadSize returns the size of the headers of incoming frames, in bytes.
func (t *Tags) HeadSize() int {
	if t.In != nil {
		return TagFrameSize
	}
	return FrameSize
}

// AppendFrame appends a whole outgoing frame.
func (t *Tags) AppendFrame(dst []byte, kind byte, payload []byte) []byte {
	if t.Out == nil {
		return AppendFrame(dst, kind, payload)
	}
	return append(t.AppendTagged(dst, kind, payload), payload...)
}

// AppendTagged appends the header of an outgoing frame with its tag, but not the payload.
func (t *Tags) AppendTagged(dst []byte, kind byte, payload []byte) []byte {
	f := Frame{Kind: kind, Flags: FlagTag, Length: uint32(len(payload))}
	return t.Out.Append(f.AppendLead(dst), f.lead(), payload)
}

// Check verifies the payload of an incoming frame by its tag, or else by its checksum.
func (t *Tags) Check(f Frame, tag, payload []byte) error {
	switch {
	case t.In != nil:
		if !t.In.Accept(tag, f.lead(), payload) {
			return fmt.Errorf("the tag of a %s is wrong: bytes were changed on the way, left out or put in", f.what())
		}
	case f.Flags&FlagSum != 0 && crc32c.Checksum(payload) != f.Sum:
		return fmt.Errorf("the checksum of a %s is wrong: a bit was flipped on the way", f.what())
	}
	return nil
}
