// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"bufio"
	"io"
	"regexp"
	"strings"
	"sync"
)

// Trace is the cause of a crash, taken from what the Go runtime has printed.
type Trace struct {
	Message string   // first line: "panic: …", "fatal error: …", "SIGQUIT: quit"
	Detail  string   // second line of a fault: "[signal SIGSEGV: …]"; may be empty
	Frames  []string // "function file:line" of the first goroutine, outside the runtime
}

// Lines returns the trace as indented text.
func (t Trace) Lines() []string {
	lines := []string{t.Message}
	if t.Detail != "" {
		lines = append(lines, t.Detail)
	}
	for _, f := range t.Frames {
		lines = append(lines, "    "+f)
	}
	return lines
}

const (
	maxFrames = 6       // of a Trace
	maxGap    = 50      // lines between the message and the first goroutine
	maxLine   = 4 << 10 // bytes of a line that are looked at
)

// forms are the lines of a trace.
type forms struct{ message, goroutine, place *regexp.Regexp }

// compiled returns the forms. They are compiled at first use, since few processes read a trace.
var compiled = sync.OnceValue(func() *forms {
	return &forms{
		message:   regexp.MustCompile(`^(panic: |fatal error: |SIG[A-Z0-9]+: )`),
		goroutine: regexp.MustCompile(`^goroutine \d+ .*\[.*\]:$`),
		place:     regexp.MustCompile(`^\t(\S.*:\d+)( |$)`),
	}
})

// Find returns the first crash in a log. It reads r until it has the crash; ok
// is false if there is none or if r fails before.
func Find(r io.Reader) (t Trace, ok bool) {
	lines := bufio.NewReaderSize(r, maxLine)
	var p parser
	for !p.done {
		line, err := readLine(lines)
		if err != nil {
			break
		}
		p.line(line)
	}
	return p.trace, p.inside
}

// parser finds a crash in lines.
type parser struct {
	trace    Trace
	gap      int    // lines since the message
	inside   bool   // the first goroutine has begun
	done     bool   // and ended
	function string // of the frame whose place follows
}

// line takes the next line.
func (p *parser) line(line string) {
	t, is := &p.trace, compiled()
	switch {
	case p.done:
	case p.inside && line == "":
		p.done = true
	case p.inside:
		if m := is.place.FindStringSubmatch(line); m != nil && p.function != "" && len(t.Frames) < maxFrames {
			t.Frames = append(t.Frames, p.function+" "+m[1])
		}
		p.function = functionOf(line)
	case is.goroutine.MatchString(line):
		p.inside = t.Message != ""
	case t.Message != "" && strings.HasPrefix(line, "[signal "):
		t.Detail = line
	case t.Message == "" && is.message.MatchString(line):
		t.Message, p.gap = line, 0
	default:
		if p.gap++; p.gap > maxGap { // the message was a line of the program's log
			*p = parser{}
		}
	}
}

// readLine returns the next line without its end. The rest of a long line is
// skipped; a last line without an end counts.
func readLine(r *bufio.Reader) (string, error) {
	b, err := r.ReadSlice('\n')
	line := strings.TrimRight(string(b), "\r\n")
	for err == bufio.ErrBufferFull {
		_, err = r.ReadSlice('\n')
	}
	if err == io.EOF && line != "" {
		err = nil
	}
	return line, err
}

// functionOf returns the function that a frame's first line names, without its
// arguments; "" for the runtime's own functions and for other lines.
func functionOf(line string) string {
	end := strings.LastIndexByte(line, '(')
	if end <= 0 || line[0] == '\t' || strings.HasPrefix(line, "created by ") {
		return ""
	}
	name := line[:end]
	if name == "panic" || strings.HasPrefix(name, "runtime.") || strings.HasPrefix(name, "internal/runtime/") {
		return ""
	}
	return name
}
