// SPDX-License-Identifier: Apache-2.0

package feature

import "fmt"

const (
	maxWarnings = 8  // of one line: a long line of rubbish is not worth more
	maxQuote    = 60 // bytes of the text that a warning quotes
)

// warn notes a recovery in dst.
func (p *Parser) warn(dst *Batch, format string, args ...any) {
	p.warned++
	switch {
	case p.warned < maxWarnings:
		dst.Warnings = append(dst.Warnings, Warning{Line: p.number, Text: fmt.Sprintf(format, args...)})
	case p.warned == maxWarnings:
		dst.Warnings = append(dst.Warnings, Warning{Line: p.number, Text: "more is wrong with this line; further warnings are left out"})
	}
}

// malformed warns, in vw's words, that something else was expected at byte i of
// the features.
func (p *Parser) malformed(dst *Batch, expected string, i int) {
	consequence := "the rest of the line is ignored"
	if expected == "Float" {
		consequence = "the namespace has no features"
	}
	before := p.line[:min(i, len(p.line))]
	if len(before) > maxQuote {
		before = before[len(before)-maxQuote:]
	}
	p.warn(dst, "malformed example! %s expected after : %q; %s", expected, before, consequence)
}

// clip is the beginning of b, short enough for a message.
func clip(b []byte) []byte { return b[:min(len(b), maxQuote)] }
