// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// textReader cuts the sources into chunks at line ends.
type textReader struct {
	p     *Pass
	cfg   *Config
	line  int64  // number of the next line of the source
	empty int    // lines without anything just before it that are in no chunk
	carry []byte // the beginning of the line that the last chunk cut off
}

func (t *textReader) run() error {
	for i := range t.cfg.Sources {
		if err := t.source(&t.cfg.Sources[i]); err != nil {
			return err
		}
	}
	return nil
}

func (t *textReader) source(s *Source) error {
	in, err := s.Open()
	if err != nil {
		return fmt.Errorf("cannot open %s: %w", s.Name, err)
	}
	if !t.p.input.set(in) {
		return in.Close()
	}
	t.line, t.empty, t.carry = 1, 0, t.carry[:0]
	var head *header
	if t.cfg.Format.Header {
		if head, err = t.header(s); err != nil {
			return err
		}
	}
	for first := true; ; {
		j, ok := t.p.jobs.take()
		if !ok {
			j = new(job)
		}
		text, last, err := t.fill(j.text, in)
		if err != nil {
			if t.p.ctx.Err() != nil {
				return nil // it may be Close that closed the input under our hands
			}
			line := t.line + int64(bytes.Count(text, []byte{'\n'}))
			if err == errLong {
				return &DataError{Source: s.Name, Line: line, Err: lengthError(text, t.cfg.Feature.LineLimit())}
			}
			return fmt.Errorf("cannot read %s, line %d: %w", s.Name, line, err)
		}
		if first && head != nil && head.own {
			if text, err = t.takeHeader(s, head, text); err != nil {
				return err
			}
		}
		if len(text) > 0 {
			lines := bytes.Count(text, []byte{'\n'})
			*j = job{source: s.Name, line: t.line, empty: t.empty, header: head, first: first, text: text, encoded: j.encoded}
			t.line += int64(lines)
			t.empty = 0
			if !t.p.hand(j) {
				return nil
			}
		}
		first = false
		if last {
			return t.p.input.done()
		}
	}
}

// header is the header of the source's file; its line is still to come if the
// source begins with it.
func (t *textReader) header(s *Source) (*header, error) {
	if s.Header == nil {
		return &header{own: true}, nil
	}
	line, own, err := s.Header(t.cfg.Feature.LineLimit())
	if err != nil {
		return nil, fmt.Errorf("cannot read the header of %s: %w", s.Name, err)
	}
	return &header{line: line, own: own}, nil
}

// takeHeader takes the header off the first chunk of a source.
func (t *textReader) takeHeader(s *Source, head *header, text []byte) ([]byte, error) {
	n := bytes.IndexByte(text, '\n') + 1
	if n == 0 {
		n = len(text)
	}
	if limit := t.cfg.Feature.LineLimit(); tooLong(text[:n], limit) {
		return nil, &DataError{Source: s.Name, Line: t.line, Err: lengthError(text[:n], limit)}
	}
	head.line = bytes.Clone(text[:n])
	t.line++
	return text[n:], nil
}

// fill puts the next chunk, whole lines, into buf. last: it is the source's
// last one, which need not end in a line feed.
func (t *textReader) fill(buf []byte, in io.Reader) (text []byte, last bool, err error) {
	size := max(t.cfg.chunk(), 2*len(t.carry))
	buf = append(slices.Grow(buf[:0], size), t.carry...)
	t.carry = t.carry[:0]
	for idle := 0; ; {
		n, err := in.Read(buf[len(buf):cap(buf)])
		fresh := buf[len(buf) : len(buf)+n]
		buf = buf[:len(buf)+n]
		text := &t.p.shard.text
		text.Bytes += uint64(n)
		text.CRC = crc32.Update(text.CRC, castagnoli, fresh)
		if err == io.EOF {
			return buf, true, nil
		}
		if err != nil {
			return buf, false, err
		}
		if n == 0 {
			if idle++; idle == 100 {
				return buf, false, io.ErrNoProgress
			}
			continue
		}
		idle = 0
		if len(buf) < cap(buf) {
			continue
		}
		if cut := bytes.LastIndexByte(buf, '\n') + 1; cut > 0 {
			// Empty lines go with the example behind them, which counts them.
			end := len(bytes.TrimRight(buf[:cut], "\r\n"))
			if end == 0 {
				n := bytes.Count(buf[:cut], []byte{'\n'})
				t.empty, t.line = t.empty+n, t.line+int64(n)
				buf = append(buf[:0], buf[cut:]...)
				continue
			}
			cut = end + bytes.IndexByte(buf[end:], '\n') + 1
			t.carry = append(t.carry, buf[cut:]...)
			return buf[:cut], false, nil
		}
		if len(buf) > t.cfg.Feature.LineLimit() {
			return buf, false, errLong
		}
		buf = slices.Grow(buf, len(buf)) // one line fills the chunk
	}
}

var errLong = errors.New("line too long")

// tooLong reports whether a line is longer than the limit, its line feed aside.
func tooLong(line []byte, limit int) bool {
	n := len(line)
	return n > limit && (n > limit+1 || line[n-1] != '\n')
}

// lengthError says how long a line is, or the beginning of one.
func lengthError(line []byte, limit int) error {
	n := len(bytes.TrimSuffix(line, []byte{'\n'}))
	return fmt.Errorf("at least %d bytes long, and the limit is %d: is this text? If so, raise the limit (--max_line)", n, limit)
}
