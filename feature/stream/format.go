// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"bytes"
	"fmt"

	"github.com/gvw-project/gvw/feature"
)

// Format describes how lines become examples.
type Format struct {
	// Name names the format and every option of the format that shapes examples: a
	// cache of another name is stale. Empty: vw's text.
	Name string
	// Header means that the first line of each file is a header, not an example.
	// New must then return a HeaderLines.
	Header bool
	// EmptyLines means that the parser gets all empty lines, for formats in which they are errors. false: empty lines are
	// no examples, and those in front of an example may only be counted.
	EmptyLines bool
	// Frame returns the length of the frame that text begins with, for formats of binary frames
	// instead of lines: 0 if text ends before the length is known, and an error if it is above
	// limit or text is no frame. The parser's lines are then frames. nil: lines.
	Frame func(text []byte, limit int) (int, error)
	// New returns the parser of one worker. nil: vw's text.
	New func(cfg feature.Config) (Lines, error)
}

// Lines turns lines into examples. It belongs to one goroutine.
type Lines interface {
	// AppendLine adds to dst the examples of line n of its file. The line may
	// end in a line feed, in a carriage return and in both. On error dst holds
	// what it held before.
	AppendLine(dst *feature.Batch, line []byte, n int64) error
}

// HeaderLines is Lines of a format whose files begin with a header.
type HeaderLines interface {
	Lines
	// Header parses the first line of the file of the following lines.
	// dst gets only warnings.
	Header(dst *feature.Batch, line []byte) error
}

var _ Lines = (*feature.Parser)(nil)

// lines returns the parser of one worker.
func (f *Format) lines(cfg feature.Config) (Lines, error) {
	if f.New == nil {
		return feature.NewParser(cfg)
	}
	l, err := f.New(cfg)
	if err != nil {
		return nil, err
	}
	if _, ok := l.(HeaderLines); f.Header && !ok {
		panic(fmt.Sprintf("BUG: stream: format %s has headers, which %T cannot read", f.Name, l))
	}
	return l, nil
}

// first returns the length of the line or frame that text begins with, which is all of text
// where that ends before.
func (f *Format) first(text []byte, limit int) (int, error) {
	n := bytes.IndexByte(text, '\n') + 1
	if f.Frame != nil {
		var err error
		if n, err = f.Frame(text, limit); err != nil {
			return 0, err
		}
	}
	if n == 0 {
		return len(text), nil
	}
	return min(n, len(text)), nil
}

// frames returns the number of whole frames at the beginning of text, and their length.
func (f *Format) frames(text []byte, limit int) (count, length int, err error) {
	for {
		n, err := f.Frame(text[length:], limit)
		if err != nil || n == 0 || n > len(text)-length {
			return count, length, err
		}
		count, length = count+1, length+n
	}
}

// header is the first line of a file, for all workers that read its lines.
type header struct {
	line []byte
	own  bool // the source began with it
}
