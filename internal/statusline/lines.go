// SPDX-License-Identifier: Apache-2.0

package statusline

import (
	"fmt"
	"io"
	"sync"
	"unicode/utf8"
)

// Lines keeps lines at the bottom of a terminal. Its methods may be called by several goroutines.
type Lines struct {
	out   io.Writer
	width func() int

	mu    sync.Mutex
	shown []string
	open  bool // the last text did not end a row: L-BFGS writes its rows in pieces
	ended bool
}

// New returns lines at the bottom of a terminal. width returns its current number of columns.
func New(out io.Writer, width func() int) *Lines { return &Lines{out: out, width: width} }

// Width returns the number of columns.
func (l *Lines) Width() int { return l.width() }

// Write writes text above the lines. They return with the next call of Show.
func (l *Lines) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wipe()
	if len(text) > 0 {
		l.open = text[len(text)-1] != '\n'
	}
	return l.out.Write(text)
}

// Show replaces the lines. It does nothing while the text above ends within a row, which the lines
// would overwrite, and after End.
func (l *Lines) Show(lines ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open || l.ended {
		return
	}
	text := append([]byte(nil), l.erasure()...)
	for i, line := range lines {
		if i > 0 {
			text = append(text, '\n')
		}
		text = append(text, line...)
	}
	_, _ = l.out.Write(text) // in one call; an error leaves only the lines themselves
	l.shown = append(l.shown[:0], lines...)
}

// End removes the lines for good.
func (l *Lines) End() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wipe()
	l.ended = true
}

// wipe removes the lines.
func (l *Lines) wipe() {
	if e := l.erasure(); e != "" {
		_, _ = io.WriteString(l.out, e)
		l.shown = l.shown[:0]
	}
}

// erasure returns the control sequence that removes the lines and leaves the cursor where they began.
func (l *Lines) erasure() string {
	if len(l.shown) == 0 {
		return ""
	}
	rows, width := 0, max(1, l.width())
	for _, line := range l.shown {
		rows += max(1, (utf8.RuneCountInString(line)+width-1)/width)
	}
	if rows == 1 {
		return "\r\x1b[K"
	}
	return fmt.Sprintf("\r\x1b[%dA\x1b[J", rows-1)
}
