// SPDX-License-Identifier: Apache-2.0

package vectorio

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Input reads one vector at a time, in a goroutine of its own: see Serve.
type Input struct {
	r      *bufio.Reader
	frames bool
	most   int    // limit of a vector in bytes
	Unit   string // line or frame
	buf    bytes.Buffer

	Want chan struct{} // requests the next vector
	Got  chan Vector   // the answer
}

// Vector is an unparsed vector. Its bytes stay valid until the next one is requested.
type Vector struct {
	Raw []byte
	Err error // io.EOF: the input has ended
}

// NewInput returns the input of lines, or of frames, of at most most bytes each.
func NewInput(r io.Reader, frames bool, most int) *Input {
	in := &Input{
		r: bufio.NewReaderSize(r, 1<<16), frames: frames, most: most, Unit: "line",
		Want: make(chan struct{}), Got: make(chan Vector, 1),
	}
	if in.frames {
		in.Unit = "frame"
	}
	return in
}

// Serve answers requests. A read of a pipe cannot be interrupted: if this goroutine is
// in a read when Want is closed, it ends only with the stream or the process.
func (in *Input) Serve() {
	for range in.Want {
		raw, err := in.read()
		in.Got <- Vector{raw, err}
	}
}

func (in *Input) read() ([]byte, error) {
	in.buf.Reset()
	if in.frames {
		return in.frame()
	}
	for {
		part, err := in.r.ReadSlice('\n')
		in.buf.Write(part)
		line := bytes.TrimSuffix(in.buf.Bytes(), []byte("\n"))
		line = bytes.TrimSuffix(line, []byte("\r"))
		switch {
		case len(line) > in.most:
			return nil, fmt.Errorf("it has more than %d bytes", in.most)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == io.EOF && in.buf.Len() > 0, err == nil: // the last line needs no newline
			return line, nil
		}
		return nil, err
	}
}

func (in *Input) frame() ([]byte, error) {
	var head [8]byte
	if _, err := io.ReadFull(in.r, head[:]); err != nil {
		if err == io.ErrUnexpectedEOF {
			err = errors.New("the input ends within the length")
		}
		return nil, err
	}
	n := binary.LittleEndian.Uint64(head[:])
	if n > uint64(in.most) {
		return nil, fmt.Errorf("its length is %d bytes: want at most %d; a frame begins with its length in 8 bytes, little-endian", n, in.most)
	}
	// The buffer grows with the received bytes, whatever the length claims.
	if got, err := io.CopyN(&in.buf, in.r, int64(n)); err != nil {
		if err == io.EOF {
			err = fmt.Errorf("the input ends after %d of %d bytes", got, n)
		}
		return nil, err
	}
	return in.buf.Bytes(), nil
}
