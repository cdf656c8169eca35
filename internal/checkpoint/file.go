// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/gvw-project/gvw/internal/crc32c"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/wire"
)

const (
	magic      = "gvwckpt\x02"
	headerSize = 76
	maxRun     = 255
	maxText    = 1<<16 - 1
	blockSize  = 256 << 10
)

// header identifies a checkpoint: its job and its step.
type header struct {
	options    [32]byte
	at         client.Point
	generation uint32
	run        string
	text       string // the options; "": too long for the field
}

// compare orders checkpoints by progress: by generation, then by step, and those of one step by epoch. The epoch
// comes last because a server without a journal begins again at term 1 and epoch 1.
func (h header) compare(o header) int {
	return cmp.Or(cmp.Compare(h.generation, o.generation), cmp.Compare(h.at.Step, o.at.Step), h.at.Epoch.Compare(o.at.Epoch))
}

func (h header) appendTo(dst []byte) []byte {
	if len(h.text) > maxText {
		h.text = ""
	}
	c := wire.Encode(append(dst, magic...))
	runSize, textSize := uint16(len(h.run)), uint16(len(h.text))
	h.code(&c, &runSize, &textSize)
	sum := crc32c.Update(crc32c.Checksum(c.Bytes()[len(dst):]), []byte(h.run+h.text))
	c.U32("crc32c", &sum)
	return append(append(c.Bytes(), h.run...), h.text...)
}

// code codes the fields between the first 8 bytes and the checksum.
func (h *header) code(c *wire.Coder, runSize, textSize *uint16) {
	c.Raw("options", h.options[:])
	h.at.Epoch.Code(c, "epoch")
	c.U64("step", &h.at.Step)
	c.U32("generation", &h.generation)
	c.U16("run key", runSize)
	c.U16("options' text", textSize)
}

func readHeader(r io.Reader) (h header, err error) {
	var b [headerSize]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return h, fmt.Errorf("it ends within its header: %w", err)
	}
	if string(b[:7]) != magic[:7] {
		return h, errors.New("it is not a checkpoint")
	}
	if b[7] != magic[7] {
		return h, fmt.Errorf("got version %d, want %d", b[7], magic[7])
	}
	var runSize, textSize uint16
	c := wire.Decode(b[len(magic) : headerSize-4])
	h.code(&c, &runSize, &textSize)
	n := int(runSize)
	if n > maxRun {
		return h, fmt.Errorf("its run key has %d bytes: want at most %d", n, maxRun)
	}
	words := make([]byte, n+int(textSize))
	if _, err := io.ReadFull(r, words); err != nil {
		return h, fmt.Errorf("it ends within its header: %w", err)
	}
	if binary.LittleEndian.Uint32(b[72:]) != crc32c.Update(crc32c.Checksum(b[:72]), words) {
		return h, errors.New("the checksum of its header is wrong")
	}
	h.run, h.text = string(words[:n]), string(words[n:])
	return h, nil
}

// writer writes a state in blocks.
type writer struct {
	*bufio.Writer
	out io.Writer
	sum uint32
}

func newWriter(out io.Writer, h header) (*writer, error) {
	w := &writer{out: out}
	w.Writer = bufio.NewWriterSize(blocks{w}, blockSize)
	_, err := out.Write(h.appendTo(nil))
	return w, err
}

// untilEnd is an io.Writer that fails when ctx has ended.
type untilEnd struct {
	ctx context.Context
	w   io.Writer
}

func (u untilEnd) Write(p []byte) (int, error) {
	if err := context.Cause(u.ctx); err != nil {
		return 0, err
	}
	return u.w.Write(p)
}

// blocks is an io.Writer that cuts its input into blocks.
type blocks struct{ w *writer }

func (b blocks) Write(p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		part := p[n:min(len(p), n+blockSize)]
		if err = b.w.block(part); err == nil {
			n += len(part)
		}
	}
	return n, err
}

func (w *writer) block(p []byte) error {
	w.sum = crc32c.Update(w.sum, p)
	sum := crc32c.Checksum(p)
	if len(p) == 0 {
		sum = w.sum
	}
	head := binary.LittleEndian.AppendUint32(nil, uint32(len(p)))
	if _, err := w.out.Write(binary.LittleEndian.AppendUint32(head, sum)); err != nil {
		return err
	}
	_, err := w.out.Write(p)
	return err
}

// close writes the last block and the end mark.
func (w *writer) close() error {
	if err := w.Flush(); err != nil {
		return err
	}
	return w.block(nil)
}

// reader reads a state from its blocks. It returns io.EOF only if all checksums are correct.
type reader struct {
	in   *bufio.Reader
	buf  []byte
	left []byte
	sum  uint32
	err  error
}

func newReader(in io.Reader) (*reader, header, error) {
	r := &reader{in: bufio.NewReaderSize(in, blockSize)}
	h, err := readHeader(r.in)
	return r, h, err
}

func (r *reader) Read(p []byte) (int, error) {
	for len(r.left) == 0 && r.err == nil {
		r.left, r.err = r.next()
	}
	if len(r.left) == 0 {
		return 0, r.err
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

func (r *reader) next() ([]byte, error) {
	var head [8]byte
	if _, err := io.ReadFull(r.in, head[:]); err != nil {
		return nil, fmt.Errorf("it ends too early: %w", noEOF(err))
	}
	n, sum := binary.LittleEndian.Uint32(head[:]), binary.LittleEndian.Uint32(head[4:])
	switch {
	case n > blockSize:
		return nil, fmt.Errorf("block of %d bytes: want at most %d", n, blockSize)
	case n == 0 && sum != r.sum:
		return nil, errors.New("the checksum of the state is wrong")
	case n == 0:
		if _, err := r.in.ReadByte(); err != io.EOF {
			return nil, errors.New("bytes follow its end")
		}
		return nil, io.EOF
	}
	if r.buf == nil {
		r.buf = make([]byte, blockSize)
	}
	b := r.buf[:n]
	if _, err := io.ReadFull(r.in, b); err != nil {
		return nil, fmt.Errorf("it ends too early: %w", noEOF(err))
	}
	if crc32c.Checksum(b) != sum {
		return nil, errors.New("the checksum of a block is wrong")
	}
	r.sum = crc32c.Update(r.sum, b)
	return b, nil
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
