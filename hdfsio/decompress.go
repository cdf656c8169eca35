// SPDX-License-Identifier: Apache-2.0

package hdfsio

import (
	"bufio"
	"compress/bzip2"
	"context"
	"errors"
	"io"
	"path"
	"slices"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Sizes of reads. A megabyte makes the cost of read calls negligible. The window is that of
// `zstd --long=27`, and bounds memory.
const (
	bufferSize = 1 << 20
	maxWindow  = 1 << 27
)

// format is a compression format, recognised by its first bytes.
type format struct {
	name   string
	suffix string
	magic  []string // alternatives; '?' matches any byte
	open   func(r io.Reader) (io.ReadCloser, error)
}

// magicLen is the length in bytes of the longest magic.
const magicLen = 10

var formats = []format{
	{
		"gzip", ".gz",
		[]string{"\x1f\x8b\x08"},
		func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) },
	},
	{
		"zstd", ".zst",
		append(skippable(), "\x28\xb5\x2f\xfd"),
		func(r io.Reader) (io.ReadCloser, error) {
			d, err := zstd.NewReader(r, zstd.WithDecoderMaxWindow(maxWindow))
			if err != nil {
				return nil, err
			}
			return d.IOReadCloser(), nil
		},
	},
	{
		"bzip2", ".bz2",
		// "BZh9" may begin a line of text; the block magic after it cannot.
		[]string{"BZh?1AY&SY", "BZh?\x17rE8P\x90"},
		func(r io.Reader) (io.ReadCloser, error) { return io.NopCloser(bzip2.NewReader(r)), nil },
	},
}

// skippable returns the magics of the skippable frames that pzstd writes before the others.
func skippable() (magics []string) {
	for i := range 16 {
		magics = append(magics, string([]byte{0x50 + byte(i), 0x2a, 0x4d, 0x18}))
	}
	return magics
}

// matches reports whether head begins with a magic of the format, and whether it may do so
// once more bytes follow.
func (f *format) matches(head []byte) (does, may bool) {
	for _, magic := range f.magic {
		n := min(len(magic), len(head))
		fits := true
		for i := range n {
			fits = fits && (magic[i] == '?' || magic[i] == head[i])
		}
		does = does || fits && n == len(magic)
		may = may || fits
	}
	return does, may
}

// readHead reads only as many bytes as are needed to distinguish the formats: the first line
// from a pipe may be shorter than a magic.
func readHead(r io.Reader) ([]byte, error) {
	head := make([]byte, 0, magicLen)
	for len(head) < magicLen {
		n, err := io.ReadAtLeast(r, head[len(head):magicLen], 1)
		head = head[:len(head)+n]
		if err == io.EOF {
			return head, nil
		}
		if err != nil {
			return head, err
		}
		if !slices.ContainsFunc(formats, func(f format) bool { _, may := f.matches(head); return may }) {
			break
		}
	}
	return head, nil
}

// Open reads a file as text: it decompresses a compressed file.
func Open(ctx context.Context, fsys FS, name string) (io.ReadCloser, error) {
	r, err := fsys.Open(ctx, name, 0)
	if err != nil {
		return nil, err
	}
	r, _, err = decompress(name, r)
	return r, err
}

// Decompress is [Open] for any reader; name is for messages. Closing the result closes r, and so
// does an error.
func Decompress(name string, r io.ReadCloser) (io.ReadCloser, error) {
	r, _, err := decompress(name, r)
	return r, err
}

func decompress(name string, r io.ReadCloser) (text io.ReadCloser, compressed bool, err error) {
	head, err := readHead(r)
	if err != nil {
		_ = r.Close() // the read error is more specific
		return nil, false, err
	}
	src := &prefixed{head: head, r: r}
	for i := range formats {
		f := &formats[i]
		if does, _ := f.matches(head); does {
			d, err := newDecoder(name, f, src)
			return d, true, err
		}
	}
	for i := range formats {
		if f := &formats[i]; len(head) > 0 && path.Ext(name) == f.suffix {
			_ = r.Close()
			return nil, false, &DataError{Name: name, Text: "not " + f.name + " data, though its name says so: rename it, or fetch it again"}
		}
	}
	return src, false, nil
}

// prefixed first returns the bytes that were read to recognise a format. Later reads
// go directly to the source: plain text is not copied again.
type prefixed struct {
	head []byte
	r    io.ReadCloser
	err  error // the error of reading head, except io.EOF
}

func (p *prefixed) Read(b []byte) (int, error) {
	if len(p.head) > 0 {
		n := copy(b, p.head)
		p.head = p.head[n:]
		return n, nil
	}
	n, err := p.r.Read(b)
	if err != nil && err != io.EOF {
		p.err = err
	}
	return n, err
}

func (p *prefixed) Close() error { return p.r.Close() }

// decoder is decompressed text. Its errors name the file.
type decoder struct {
	name   string
	format *format
	src    *prefixed
	r      io.ReadCloser
}

func newDecoder(name string, f *format, src *prefixed) (*decoder, error) {
	d := &decoder{name: name, format: f, src: src}
	r, err := f.open(bufio.NewReaderSize(src, bufferSize))
	if err != nil {
		_ = src.Close() // the decoder's error is more specific
		return nil, d.explain(err)
	}
	d.r = r
	return d, nil
}

func (d *decoder) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	if err != nil && err != io.EOF {
		err = d.explain(err)
	}
	return n, err
}

// explain distinguishes errors of the disk from damaged data.
func (d *decoder) explain(err error) error {
	switch {
	case d.src.err != nil:
		return d.src.err
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return &DataError{Name: d.name, Text: "the " + d.format.name + " data ends too early: the file is truncated; fetch it again", Err: err}
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return &DataError{Name: d.name, Text: "the zstd data needs a window over 128 MiB: compress it with --long=27 or less", Err: err}
	}
	return &DataError{Name: d.name, Text: "the " + d.format.name + " data is damaged (" + err.Error() + "): fetch the file again", Err: err}
}

func (d *decoder) Close() error {
	_ = d.r.Close() // it could only repeat the error of the last read
	return d.src.Close()
}
