// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// Span is an event with a duration.
type Span struct {
	Name  string `json:"name"`
	Rank  int    `json:"pid"`
	Row   Row    `json:"tid"`
	Began int64  `json:"ts"`  // microseconds since 1970
	Took  int64  `json:"dur"` // microseconds
	Args  struct {
		Bytes int `json:"bytes"`
	} `json:"args"`
}

// maxLine limits a line of a timeline.
const maxLine = 64 << 10

// Read reads the spans of a file, in the order in which they ended. It ignores other events, and does not need the end
// of the array.
func Read(in io.Reader) (spans []Span, err error) {
	err = lines(in, func(line []byte) error {
		var e struct {
			Kind string `json:"ph"`
			Span
		}
		if err := json.Unmarshal(line, &e); err != nil {
			return err
		}
		if e.Kind == "X" {
			spans = append(spans, e.Span)
		}
		return nil
	})
	return spans, err
}

// writer writes a file.
type writer struct {
	b         *bufio.Writer
	separator string
}

func newWriter(w io.Writer) *writer { return &writer{bufio.NewWriter(w), "[\n"} }

// add writes an event. The buffer keeps the first error.
func (w *writer) add(event []byte) {
	_, _ = w.b.WriteString(w.separator)
	_, _ = w.b.Write(event)
	w.separator = ",\n"
}

// end writes the end of the file.
func (w *writer) end() error {
	if w.separator == "[\n" {
		_, _ = w.b.WriteString("[")
	}
	_, _ = w.b.WriteString("\n]\n")
	return w.b.Flush()
}

// lines calls visit with the text of each event. It ignores a last line that a process that was killed has not completed.
func lines(in io.Reader, visit func(line []byte) error) error {
	s := bufio.NewScanner(in)
	s.Buffer(nil, maxLine)
	ended := true // the line has a line feed
	s.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		n, line, err := bufio.ScanLines(data, atEOF)
		ended = n > 0 && data[n-1] == '\n'
		return n, line, err
	})
	for n := 1; s.Scan(); n++ {
		line := bytes.TrimSuffix(bytes.TrimSpace(s.Bytes()), []byte(","))
		if len(line) < 2 { // a bracket
			continue
		}
		if !ended && n > 1 && !json.Valid(line) {
			continue // no part of an event is valid
		}
		if err := visit(line); err != nil {
			return fmt.Errorf("timeline, line %d: %w", n, err)
		}
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("timeline: %w", err)
	}
	return nil
}
