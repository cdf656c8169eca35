// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
)

// Filter is a writer that ends the trace of a crash after its first goroutine.
// All else it writes to Out at once, unchanged. Reset may be called during a Write.
type Filter struct {
	Out  io.Writer
	Full string // where the whole trace is; "": nowhere

	mu     sync.Mutex
	parser parser
	part   []byte // the line under way, up to maxLine bytes
}

// Reset lets the filter begin again: a new process writes.
func (f *Filter) Reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.parser, f.part = parser{}, f.part[:0]
}

// Write writes p, or the part of it that precedes the second goroutine of a
// crash.
func (f *Filter) Write(p []byte) (int, error) {
	shown, done, ends := f.cut(p)
	if done {
		return len(p), nil
	}
	if n, err := f.Out.Write(p[:shown]); err != nil {
		return n, err
	}
	if ends && f.Full != "" {
		if _, err := fmt.Fprintf(f.Out, "(all goroutines are in %s)\n", f.Full); err != nil {
			return shown, err
		}
	}
	return len(p), nil
}

// cut returns the length of the part of p to show. done is true if the trace has ended before p, and ends if it ends in p.
func (f *Filter) cut(p []byte) (shown int, done, ends bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.parser.done {
		return 0, true, false
	}
	for shown < len(p) && !f.parser.done {
		end := bytes.IndexByte(p[shown:], '\n') + 1
		whole := end > 0
		if !whole {
			end = len(p) - shown
		}
		part := p[shown : shown+end]
		f.part = append(f.part, part[:min(len(part), maxLine-len(f.part))]...)
		shown += end
		if whole {
			f.parser.line(strings.TrimRight(string(f.part), "\r\n"))
			f.part = f.part[:0]
		}
	}
	return shown, false, f.parser.done
}
