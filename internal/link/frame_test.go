// SPDX-License-Identifier: Apache-2.0

package link

import (
	"bytes"
	"testing"
)

// FuzzDecodeFrame decodes arbitrary headers: no bytes are a header with a checksum and also one with
// a tag, and an accepted header is encoded to the same bytes.
func FuzzDecodeFrame(f *testing.F) {
	f.Add(AppendFrame(nil, FrameProgress, make([]byte, MaxProgress)))
	f.Add(AppendFrame(nil, FrameCall, make([]byte, MaxCall)))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < FrameSize {
			return
		}
		fr, err := DecodeFrame(b, false)
		if _, tagged := DecodeFrame(b, true); err == nil && tagged == nil {
			t.Errorf("% x: a frame with a checksum, and with a tag", b)
		}
		if err != nil {
			return
		}
		if fr.Length > limits[fr.Kind] {
			t.Errorf("% x: %d bytes of type %d pass", b[:FrameSize], fr.Length, fr.Kind)
		}
		if again := fr.Append(nil); !bytes.Equal(again, b[:FrameSize]) {
			t.Errorf("% x became % x", b[:FrameSize], again)
		}
	})
}
