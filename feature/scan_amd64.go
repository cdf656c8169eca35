// SPDX-License-Identifier: Apache-2.0

//go:build !noasm

package feature

import (
	"slices"

	"golang.org/x/sys/cpu"

	"github.com/gvw-project/gvw/feature/internal/number"
)

// hasFast reports whether the processor has the instructions of scan_amd64.s.
var hasFast = cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasBMI2 && cpu.X86.HasPOPCNT

// scanner holds the arguments and results of scanAVX2, which depends on its layout.
type scanner struct {
	text   *byte
	marks  *uint32  // of the blank in front of the first feature
	out    *Feature // room for all features that the marks can hold
	last   int      // where a name may begin at the latest: scanReach before the end
	salt   uint32
	mask   uint32
	factor float32
	digit  uint32 // 10: names that begin with a digit may be numbers; 0: they are not
	step   int    // bytes that a feature without value takes: none if the factor is 0
	powers *float32

	passed  int // marks
	written int // features
}

// scanReach is how far behind the beginning of its name scanAVX2 looks at most
// for a feature: name, colon, minus, eight bytes of the value. A name of 8 to 15 bytes must begin 8 bytes earlier.
const scanReach = 7 + 1 + 1 + 8

//go:noescape
func markAVX2(dst *uint32, text *byte, blocks int) (n int)

//go:noescape
func scanAVX2(s *scanner)

// markLine finds the places in a line where names and values may end, and adds
// two behind it.
func (p *Parser) markLine(line []byte) {
	p.mark = 0
	if !p.fast {
		return
	}
	const block = 64
	marks := slices.Grow(p.marks[:0], len(line)+2*block)
	marks = marks[:cap(marks)]
	whole := len(line) / block
	if more := (whole + 1) * block; more <= cap(line) {
		line, whole = line[:len(line):more], whole+1 // beyond the line, but in the memory of its slice
	}
	n := 0
	if whole > 0 {
		n = markAVX2(&marks[0], &line[:1][0], whole)
		for n > 0 && int(marks[n-1]) >= len(line) {
			n--
		}
	}
	if done := whole * block; done < len(line) {
		tail := noMarks
		size := copy(tail[:], line[done:])
		k := n
		for n += markAVX2(&marks[n], &tail[0], 1); n > k && int(marks[n-1]) >= size; n-- {
		}
		for i := range marks[k:n] {
			marks[k+i] += uint32(done)
		}
	}
	p.marks = append(marks[:n], uint32(len(line)), uint32(len(line)))
}

// noMarks is a block of names without end.
var noMarks = func() (b [64]byte) {
	for i := range b {
		b[i] = 'x'
	}
	return b
}()

// scan reads features from line[i] on, a blank, up to the first one that is not
// of the usual kind, and returns where it stopped: in front of a blank.
func (p *Parser) scan(fs []Feature, line []byte, i int, salt uint32, factor float32) ([]Feature, int) {
	k := p.mark
	for int(p.marks[k]) < i {
		k++
	}
	p.mark = k
	if len(line)-i <= scanReach {
		return fs, i
	}
	fs = slices.Grow(fs, len(p.marks)-k)
	n := len(fs)
	s := scanner{
		text: &line[0], marks: &p.marks[k], out: &fs[:cap(fs)][n], last: len(line) - scanReach,
		salt: salt, mask: p.mask, factor: factor, digit: 10, step: 8, powers: &number.PowersDown[0],
	}
	if p.hashAll {
		s.digit = 0
	}
	if factor == 0 {
		s.step = 0
	}
	scanAVX2(&s)
	p.mark = k + s.passed
	return fs[:n+s.written], int(p.marks[p.mark])
}
