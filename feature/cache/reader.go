// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/gvw-project/gvw/internal/crc32c"
)

// Block is one encoded block of the file.
type Block struct {
	File   string // the cache's name
	Number int64  // counted from 0
	Offset int64  // in the file
	Data   []byte // header and payload
}

// Reader reads the blocks of a cache in order. Not for use by more than one
// goroutine at a time.
type Reader struct {
	name   string
	src    io.ReaderAt
	calls  Calls
	close  func() error
	at     int64 // the next block
	end    int64 // the trailer
	totals Totals
	seen   Totals

	fill func() error // reads buf at the offset from
	buf  []byte
	from int64
}

// Open opens the cache called path. All calls to the file system are made by calls; nil: they
// are made directly. The error is a *StaleError for another key, a *CorruptError for an
// incomplete or damaged cache, else one of the file system.
func Open(path string, key Key, calls Calls) (*Reader, error) {
	if calls == nil {
		calls = direct{}
	}
	var f *os.File
	closeFile := func() error {
		if f == nil {
			return nil
		}
		return f.Close()
	}
	var size int64
	err := calls.Do("open", func() (err error) {
		if f, err = os.Open(path); err != nil {
			return err
		}
		info, err := f.Stat()
		if err == nil {
			size = info.Size()
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cache: cannot open: %w", err), calls.Last("close", closeFile))
	}
	r, err := newReader(f, size, path, key, calls)
	if err != nil {
		return nil, errors.Join(err, calls.Last("close", closeFile))
	}
	r.close = closeFile
	return r, nil
}

// NewReader reads a cache of size bytes from src; name is for messages. The
// errors are those of Open.
func NewReader(src io.ReaderAt, size int64, name string, key Key) (*Reader, error) {
	return newReader(src, size, name, key, direct{})
}

func newReader(src io.ReaderAt, size int64, name string, key Key, calls Calls) (*Reader, error) {
	if err := key.Features.Validate(); err != nil {
		return nil, err
	}
	r := &Reader{name: name, src: src, calls: calls, end: size - trailerSize, close: func() error { return nil }}
	r.fill = func() error {
		_, err := r.src.ReadAt(r.buf, r.from)
		return err
	}
	text, err := r.header(size)
	if err != nil {
		return nil, err
	}
	if err := key.compare(name, text); err != nil {
		return nil, err
	}
	if err := r.trailer(); err != nil {
		return nil, err
	}
	return r, nil
}

// header reads the header, and returns the text of the key.
func (r *Reader) header(size int64) (string, error) {
	const fixed = len(fileMagic) + 8
	head := make([]byte, min(size, int64(fixed+maxKey+4)))
	if err := r.read(head, 0); err != nil {
		return "", err
	}
	if len(head) < fixed || string(head[:8]) != fileMagic {
		return "", r.corrupt(-1, 0, "it is not a cache of gvw")
	}
	if v := le.Uint32(head[8:]); v != version {
		return "", r.corrupt(-1, 8, "it has version %d, this program reads %d", v, version)
	}
	k := int64(le.Uint32(head[12:]))
	if k > maxKey || int64(fixed)+k+4+trailerSize > size {
		return "", r.corrupt(-1, 12, "%d bytes are too few, it was cut", size)
	}
	body := head[:int64(fixed)+k]
	if got, want := crc32c.Checksum(body), le.Uint32(head[len(body):]); got != want {
		return "", r.corrupt(-1, int64(len(body)), "checksum of the header %08x, it says %08x", got, want)
	}
	r.at = int64(len(body)) + 4
	return string(body[fixed:]), nil
}

func (r *Reader) trailer() error {
	var b [trailerSize]byte
	if err := r.read(b[:], r.end); err != nil {
		return err
	}
	if string(b[:4]) != lastMagic || string(b[48:]) != endMagic {
		return r.corrupt(-1, r.end, "it has no end, it was cut or is still being copied")
	}
	if got, want := crc32c.Checksum(b[:44]), le.Uint32(b[44:]); got != want {
		return r.corrupt(-1, r.end, "checksum of the trailer %08x, it says %08x", got, want)
	}
	r.totals = Totals{
		Blocks:   le.Uint64(b[4:]),
		Examples: le.Uint64(b[12:]),
		Features: le.Uint64(b[20:]),
		Text:     Text{Bytes: le.Uint64(b[28:]), CRC: le.Uint32(b[36:])},
		sums:     le.Uint32(b[40:]),
	}
	return nil
}

func (r *Reader) read(b []byte, at int64) error {
	r.buf, r.from = b, at
	if err := r.calls.Do("read", r.fill); err != nil {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return r.corrupt(-1, at, "the file ends within the next %d bytes, it was cut", len(b))
		}
		return fmt.Errorf("cache: cannot read %s: %w", r.name, err)
	}
	return nil
}

func (r *Reader) corrupt(block, at int64, format string, args ...any) error {
	return &CorruptError{File: r.name, Block: block, Offset: at, What: fmt.Sprintf(format, args...)}
}

// Totals returns the counts in the file's trailer.
func (r *Reader) Totals() Totals { return r.totals }

// Next reads the next block, into buf if that is large enough; io.EOF if there
// is none. Its checksum is for Decode to verify.
func (r *Reader) Next(buf []byte) (Block, error) {
	number := int64(r.seen.Blocks)
	if r.at == r.end {
		if r.seen.Blocks != r.totals.Blocks || r.seen.Examples != r.totals.Examples ||
			r.seen.Features != r.totals.Features || r.seen.sums != r.totals.sums {
			return Block{}, r.corrupt(-1, r.end, "%d blocks with %d examples, its end says %d with %d",
				r.seen.Blocks, r.seen.Examples, r.totals.Blocks, r.totals.Examples)
		}
		return Block{}, io.EOF
	}
	left := r.end - r.at
	if left < blockHeader {
		return Block{}, r.corrupt(number, r.at, "%d bytes are no block", left)
	}
	buf = slices.Grow(buf[:0], blockHeader)[:blockHeader]
	if err := r.read(buf, r.at); err != nil {
		return Block{}, err
	}
	n := int64(le.Uint32(buf[4:]))
	if string(buf[:4]) != blockMagic || n > maxPayload || n > left-blockHeader {
		return Block{}, r.corrupt(number, r.at, "no block begins here")
	}
	buf = slices.Grow(buf, int(n))[:blockHeader+n]
	if err := r.read(buf[blockHeader:], r.at+blockHeader); err != nil {
		return Block{}, err
	}
	block := Block{File: r.name, Number: number, Offset: r.at, Data: buf}
	r.at += int64(len(buf))
	r.seen.Blocks++
	r.seen.Examples += uint64(le.Uint32(buf[8:]))
	r.seen.Features += uint64(le.Uint32(buf[12:]))
	r.seen.sums = crc32c.Update(r.seen.sums, buf[16:20])
	return block, nil
}

// Close closes the file. It may be called more than once.
func (r *Reader) Close() error {
	closeFile := r.close
	r.close = func() error { return nil }
	return r.calls.Last("close", closeFile)
}
