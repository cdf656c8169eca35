// SPDX-License-Identifier: Apache-2.0

package csv

import (
	"bytes"

	"github.com/gvw-project/gvw/feature"
)

const maxQuote = 60 // bytes of the text that an error quotes

func clip(b []byte) []byte { return b[:min(len(b), maxQuote)] }

// cell is the text between two separators, without its quotes.
type cell struct {
	text   []byte
	quoted bool
}

// splitter splits lines into cells. Its results are valid until the next line.
type splitter struct {
	cells  []cell
	buffer []byte // texts that are not as they stand in the line
}

// trim removes the characters at both ends that vw does not count as part of a line.
func trim(line []byte) []byte {
	lo, hi := 0, len(line)
	for lo < hi && ignored(line[lo]) {
		lo++
	}
	for hi > lo && ignored(line[hi-1]) {
		hi--
	}
	return line[lo:hi]
}

func ignored(c byte) bool {
	switch c {
	case '\r', '\n', '\f', '\v', 0xef, 0xbb, 0xbf:
		return true
	}
	return false
}

// split cuts a line into cells, of which there is at least one. quotes: a cell
// may be in quotes.
func (s *splitter) split(line []byte, separator byte, quotes bool) ([]cell, error) {
	s.cells, s.buffer = s.cells[:0], s.buffer[:0]
	line = trim(line)
	for i := 0; ; i++ {
		c := cell{quoted: quotes && i < len(line) && line[i] == '"'}
		if c.quoted {
			var err *feature.MalformedError
			if c.text, i, err = s.unquote(line, i+1, separator); err != nil {
				return nil, err
			}
		} else {
			start := i
			if k := bytes.IndexByte(line[i:], separator); k >= 0 {
				i += k
			} else {
				i = len(line)
			}
			c.text = line[start:i]
		}
		s.cells = append(s.cells, c)
		if i == len(line) {
			return s.cells, nil
		}
	}
}

// unquote reads a cell behind its opening quote, and returns where it ends.
func (s *splitter) unquote(line []byte, start int, separator byte) (text []byte, end int, err *feature.MalformedError) {
	from, lo := start, len(s.buffer)
	for i := start; i < len(line); i++ {
		switch {
		case line[i] != '"':
		case i+1 < len(line) && line[i+1] == '"':
			s.buffer = append(s.buffer, line[from:i+1]...)
			i++
			from = i + 1
		case i+1 == len(line) || line[i+1] == separator:
			if from == start {
				return line[start:i], i + 1, nil
			}
			s.buffer = append(s.buffer, line[from:i]...)
			return s.buffer[lo:], i + 1, nil
		default:
			return nil, 0, &feature.MalformedError{Column: i + 1, Text: "a quote inside of a cell in quotes must be doubled"}
		}
	}
	return nil, 0, &feature.MalformedError{Column: start, Text: "the cell in quotes that begins here does not end on this line"}
}
