// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// input reads one vector at a time.
type input struct {
	r      *bufio.Reader
	frames bool
	most   int    // limit of a vector in bytes
	unit   string // line or frame
	buf    bytes.Buffer

	want chan struct{} // requests the next vector
	got  chan vector   // the answer
}

// vector is an unparsed vector. Its bytes stay valid until the next one is requested.
type vector struct {
	raw []byte
	err error // io.EOF: the input has ended
}

func newInput(r io.Reader, cfg Config) *input {
	in := &input{
		r: bufio.NewReaderSize(r, 1<<16), frames: cfg.Frames, most: cfg.MaxVector, unit: "line",
		want: make(chan struct{}), got: make(chan vector, 1),
	}
	if in.frames {
		in.unit = "frame"
	}
	return in
}

// serve answers requests. A read of a pipe cannot be interrupted: if this goroutine is
// in a read when want is closed, it ends only with the stream or the process.
func (in *input) serve() {
	for range in.want {
		raw, err := in.read()
		in.got <- vector{raw, err}
	}
}

func (in *input) read() ([]byte, error) {
	in.buf.Reset()
	if in.frames {
		return in.frame()
	}
	for {
		part, err := in.r.ReadSlice('\n')
		in.buf.Write(part)
		switch {
		case in.buf.Len() > in.most:
			return nil, fmt.Errorf("it has more than %d bytes", in.most)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == io.EOF && in.buf.Len() > 0, err == nil: // the last line needs no newline
			line := bytes.TrimSuffix(in.buf.Bytes(), []byte("\n"))
			return bytes.TrimSuffix(line, []byte("\r")), nil
		}
		return nil, err
	}
}

func (in *input) frame() ([]byte, error) {
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
