// SPDX-License-Identifier: Apache-2.0

package stream

import (
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

// header is the first line of a file, for all workers that read its lines.
type header struct {
	line []byte
	own  bool // the source began with it
}
