// SPDX-License-Identifier: Apache-2.0

package statusline

import (
	"io"
	"runtime"
	"sync"

	"github.com/mattn/go-runewidth"
	"github.com/vbauerster/mpb/v8/cwriter"
)

// Lines keeps lines at the bottom of a terminal. Its methods may be called by several goroutines.
type Lines struct {
	width func() int

	mu    sync.Mutex
	out   *cwriter.Writer
	shown []string
	open  bool // the last text did not end a row: L-BFGS writes its rows in pieces
	ended bool
}

// New returns lines at the bottom of a terminal. width returns its current number of columns.
func New(out io.Writer, width func() int) *Lines { return &Lines{out: cwriter.New(out), width: width} }

// Width returns the number of columns.
func (l *Lines) Width() int { return l.width() }

// Write writes text above the lines. They return with the next call of Show.
func (l *Lines) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(text) > 0 {
		l.open = text[len(text)-1] != '\n'
	}
	if err := l.replace(string(text), nil); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Show replaces the lines. It does nothing while the text above ends within a row, which the lines
// would overwrite, and after End.
func (l *Lines) Show(lines ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open || l.ended {
		return
	}
	_ = l.replace("", lines) // an error leaves only the lines themselves
}

// End removes the lines for good.
func (l *Lines) End() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.replace("", nil)
	l.ended = true
}

// replace removes the lines and writes a text and other lines, in one call of the writer below. The cursor is then below them.
func (l *Lines) replace(text string, lines []string) error {
	if text == "" && len(lines) == 0 && len(l.shown) == 0 {
		return nil
	}
	if runtime.GOOS != "windows" { // there cwriter clears the console by calls of the system
		l.out.Reset()
		_ = l.out.Flush(l.wrapped()) // only prepares the sequence for the rows of now
		if erase := l.out.String(); erase != "" {
			l.out.Reset()
			l.out.WriteString("\r" + erase) // the terminal may have echoed keys
		}
	}
	l.out.WriteString(text)
	for _, line := range lines {
		l.out.WriteString(line + "\n")
	}
	l.shown = append(l.shown[:0], lines...)
	err := l.out.Flush(len(lines))
	if err != nil {
		l.out.Reset()
	}
	return err
}

// wrapped returns the number of rows that the lines have in the terminal as it is now.
func (l *Lines) wrapped() (rows int) {
	width := max(1, l.width())
	for _, line := range l.shown {
		rows += max(1, (runewidth.StringWidth(line)+width-1)/width)
	}
	return rows
}
