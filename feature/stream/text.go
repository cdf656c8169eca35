// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/gvw-project/gvw/internal/crc32c"
)

// textReader cuts the sources into chunks at line ends. A chunk ends when it has
// its size, or earlier, when Next waits for input: whole lines are handed on
// before the next read, which may block.
type textReader struct {
	p   *Pass
	cfg *Config

	mu      sync.Mutex // not held during a read
	waiting bool       // Next waits for a job
	ended   bool       // the reader sends no more jobs
	handed  int        // jobs made so far
	source  *Source
	header  *header     // of the source's file; nil: the format has none
	titled  bool        // the header line is still to be read from the source
	first   bool        // no job of the source has been handed on
	line    int64       // number of the next line of the source
	empty   int         // empty lines in front of it that are in no job
	buf     []byte      // text that was read; a read appends to it
	from    int         // bytes of buf that are handed on already
	format  formatCheck // of the source
}

func (t *textReader) run() error {
	for i := range t.cfg.Sources {
		if err := t.read(&t.cfg.Sources[i]); err != nil {
			return err
		}
	}
	return nil
}

// read reads a source to its end, or to the end of the pass.
func (t *textReader) read(s *Source) error {
	in, err := s.Open(t.p.ctx)
	if err != nil {
		if t.p.ctx.Err() != nil {
			return nil // it may have ended Open
		}
		return fmt.Errorf("cannot open %s: %w", s.Name, err)
	}
	if !t.p.input.set(in) {
		return in.Close()
	}
	if err := t.begin(s); err != nil {
		return err
	}
	for idle := 0; ; {
		room := t.buf[len(t.buf):cap(t.buf)]
		n, err := in.Read(room)
		text := &t.p.shard.text
		text.Bytes += uint64(n)
		text.CRC = crc32c.Update(text.CRC, room[:n])
		if idle++; n > 0 {
			idle = 0
		}
		last := err == io.EOF
		switch {
		case idle == 100 && err == nil:
			err = io.ErrNoProgress
			fallthrough
		case err != nil && !last:
			return t.failed(err)
		}
		if more, err := t.add(n, last); err != nil || !more {
			return err
		}
		if last {
			return t.p.input.done()
		}
	}
}

// failed is the end of the pass by an error of the source.
func (t *textReader) failed(err error) error {
	if t.p.ctx.Err() != nil {
		return nil // Close may have closed the input during the read
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	unit := "line"
	if t.cfg.Format.Frame != nil {
		unit = "frame"
	}
	return fmt.Errorf("cannot read %s, %s %d: %w", t.source.Name, unit, t.line+t.count(t.buf[t.from:]), err)
}

// begin starts reading a source.
func (t *textReader) begin(s *Source) (err error) {
	var head *header
	if t.cfg.Format.Header {
		if head, err = t.fileHeader(s); err != nil {
			return err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.source, t.header, t.titled, t.first = s, head, head != nil && head.own, true
	t.line, t.empty, t.format = 1, 0, formatCheck{done: t.cfg.Format.Name != ""}
	t.buf, t.from = emptied(t.buf, t.cfg.chunk()), 0
	return nil
}

// fileHeader returns the header of the source's file; its line is still to come if the
// source begins with it.
func (t *textReader) fileHeader(s *Source) (*header, error) {
	if s.Header == nil {
		return &header{own: true}, nil
	}
	line, own, err := s.Header(t.cfg.Feature.LineLimit())
	if err != nil {
		return nil, fmt.Errorf("cannot read the header of %s: %w", s.Name, err)
	}
	return &header{line: line, own: own}, nil
}

// add takes over n bytes that were read behind buf, and hands on a chunk if it is
// due. last: they are the source's last ones, which need not end in a line feed.
// more reports whether the pass continues.
func (t *textReader) add(n int, last bool) (more bool, err error) {
	j, err := t.chunk(n, last)
	if err != nil || j == nil {
		return err == nil, err
	}
	return t.p.send(j), nil // not under the lock: it may wait for Next, and Next for the lock
}

// chunk returns add's job, if one is due.
func (t *textReader) chunk(n int, last bool) (j *job, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = t.buf[:len(t.buf)+n]
	full := t.from == 0 && len(t.buf) == cap(t.buf)
	if full || last || t.waiting {
		text, err := t.lines(last)
		if err == nil {
			err = t.look(text, last)
		}
		if err != nil {
			return nil, err
		}
		if len(text) > 0 {
			// The job gets this buffer, and leaves the one that it had.
			own := t.take()
			rest := t.buf[t.from+len(text):]
			t.buf, t.from = append(emptied(own.text, max(t.cfg.chunk(), 2*len(rest))), rest...), 0
			j = t.fill(own, text)
		}
	}
	t.buf, t.from = slices.Delete(t.buf, 0, t.from), 0
	if len(t.buf) == cap(t.buf) { // one line fills it
		if limit := t.cfg.Feature.LineLimit(); len(t.buf) > limit {
			return nil, &DataError{Source: t.source.Name, Line: t.line, Err: lengthError(t.buf, limit)}
		}
		t.buf = slices.Grow(t.buf, len(t.buf))
	}
	return j, nil
}

// give hands on the whole lines that have been read, for Next, which has received so
// many jobs. False: there are none, and Next has to wait.
func (t *textReader) give(received int) (bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended || t.handed > received { // the end, or a job, is on its way
		return true, nil
	}
	text, err := t.lines(false)
	if err == nil {
		err = t.look(text, false)
	}
	if err != nil {
		return false, err
	}
	if t.waiting = len(text) == 0; t.waiting {
		return false, nil
	}
	t.from += len(text)
	j := t.take()
	t.p.send(t.fill(j, append(j.text[:0], text...))) // a copy: the reader may be reading behind the lines
	return true, nil
}

// end is called when the reader has ended: give must not use the channels that the reader
// closes, though after an error there are lines that were not handed on.
func (t *textReader) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
}

// look returns an error for text of another format, whose lines would have no features.
func (t *textReader) look(text []byte, last bool) error {
	if t.format.done {
		return nil
	}
	if err := t.format.add(text, last); err != nil {
		return &DataError{Source: t.source.Name, Line: 1, Err: err}
	}
	return nil
}

// lines returns the whole lines of buf. Empty lines behind the last example stay
// there: they go with the example behind them, which counts them, unless the format
// wants them all. The last lines of a source are all that is left.
func (t *textReader) lines(last bool) ([]byte, error) {
	text := t.buf[t.from:]
	if t.cfg.Format.Frame != nil {
		return t.frames(text, last)
	}
	end := bytes.LastIndexByte(text, '\n') + 1
	if last {
		end = len(text)
	}
	text = text[:end]
	if t.titled && end > 0 {
		n := bytes.IndexByte(text, '\n') + 1
		if n == 0 {
			n = end
		}
		if limit := t.cfg.Feature.LineLimit(); tooLong(text[:n], limit) {
			return nil, &DataError{Source: t.source.Name, Line: t.line, Err: lengthError(text[:n], limit)}
		}
		t.header.line = bytes.Clone(text[:n])
		t.titled = false
		t.line++
		t.from += n
		text = text[n:]
	}
	if last || t.cfg.Format.EmptyLines {
		return text, nil
	}
	body := len(bytes.TrimRight(text, "\r\n"))
	if body == 0 {
		n := bytes.Count(text, []byte{'\n'})
		t.empty, t.line = t.empty+n, t.line+int64(n)
		t.from += len(text)
		return nil, nil
	}
	return text[:body+bytes.IndexByte(text[body:], '\n')+1], nil
}

// frames returns the whole frames of text. The last ones of a source are all that is left.
func (t *textReader) frames(text []byte, last bool) ([]byte, error) {
	count, n, err := t.cfg.Format.frames(text, t.cfg.Feature.LineLimit())
	if err != nil {
		return nil, frameError(t.source.Name, t.line+int64(count), err)
	}
	if last {
		n = len(text)
	}
	return text[:n], nil
}

// frameError returns the error of a frame, whose number is in its text.
func frameError(source string, frame int64, err error) error {
	return &DataError{Source: source, Err: fmt.Errorf("frame %d: %w", frame, err)}
}

// count returns the number of whole lines or frames of text.
func (t *textReader) count(text []byte) int64 {
	if t.cfg.Format.Frame != nil {
		n, _, _ := t.cfg.Format.frames(text, t.cfg.Feature.LineLimit()) // frames reports errors
		return int64(n)
	}
	return int64(bytes.Count(text, []byte{'\n'}))
}

// take returns a job to be filled.
func (t *textReader) take() *job {
	if j, ok := t.p.jobs.take(); ok {
		return j
	}
	return new(job)
}

// emptied returns an empty buffer of n bytes or more, which is b if it is large enough. slices.Grow would write all bytes of
// a new one, and a small file needs few of them.
func emptied(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, 0, n)
	}
	return b[:0]
}

// fill makes j the job of text, the next lines of the source.
func (t *textReader) fill(j *job, text []byte) *job {
	*j = job{source: t.source.Name, line: t.line, empty: t.empty, header: t.header, first: t.first, text: text, encoded: j.encoded}
	t.line += t.count(text)
	t.empty, t.first, t.waiting = 0, false, false
	t.handed++
	return j
}

// tooLong reports whether a line is longer than the limit, its line feed aside.
func tooLong(line []byte, limit int) bool {
	n := len(line)
	return n > limit && (n > limit+1 || line[n-1] != '\n')
}

// lengthError returns the error for a line, or the beginning of a line, over the limit.
func lengthError(line []byte, limit int) error {
	n := len(bytes.TrimSuffix(line, []byte{'\n'}))
	return fmt.Errorf("at least %d bytes long: want at most %d; if this is text, raise the limit (stream.Config.MaxLine)", n, limit)
}
