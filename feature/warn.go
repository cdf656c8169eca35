// SPDX-License-Identifier: Apache-2.0

package feature

import "fmt"

const (
	maxWarnings = 8  // limit for one line, because more warnings about one line add nothing
	maxQuote    = 60 // bytes of the text that a warning quotes
)

// A MalformedError reports a line that cannot be parsed: a malformed line of a format
// without recoveries or, with Config.Strict, one from which vw would recover.
type MalformedError struct {
	Line   int64 // 1-based
	Column int   // 1-based byte of the line; 0: not known
	Text   string
}

func (e *MalformedError) Error() string {
	if e.Column > 0 {
		return fmt.Sprintf("column %d: %s", e.Column, e.Text)
	}
	return e.Text
}

// Warn records a recovery that vw makes also in strict mode.
func (b *Builder) Warn(format string, args ...any) {
	b.warned++
	switch {
	case b.warned < maxWarnings:
		b.dst.Warnings = append(b.dst.Warnings, Warning{Line: b.number, Text: fmt.Sprintf(format, args...)})
	case b.warned == maxWarnings:
		b.dst.Warnings = append(b.dst.Warnings, Warning{Line: b.number, Text: "more is wrong with this line; further warnings are left out"})
	}
}

// Fault records a fault of the line. In strict mode it is the error of End, otherwise a
// warning that includes the recovery.
func (b *Builder) Fault(recovery, format string, args ...any) {
	if !b.strict {
		b.Warn(format+recovery, args...)
	} else if b.fault == nil {
		b.fault = &MalformedError{Line: b.number, Text: fmt.Sprintf(format, args...)}
	}
}

// malformed records, with vw's text, that something else was expected at byte i of
// the features.
func (p *Parser) malformed(expected string, i int) {
	recovery := "; the rest of the line is ignored"
	if expected == "Float" {
		recovery = "; the namespace has no features"
	}
	before := p.line[:min(i, len(p.line))]
	if len(before) > maxQuote {
		before = before[len(before)-maxQuote:]
	}
	p.b.Fault(recovery, "malformed example! %s expected after : %q", expected, before)
}

// clip returns the beginning of b, short enough for a message.
func clip(b []byte) []byte { return b[:min(len(b), maxQuote)] }
