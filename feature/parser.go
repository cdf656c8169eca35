// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"bytes"

	"github.com/gvw-project/gvw/feature/internal/number"
)

// Parser turns lines of vw's text into examples. Not for use by more than one
// goroutine at a time.
type Parser struct {
	b Builder

	// Of b, for the inner loop.
	hash    func(s []byte, seed uint32) uint32
	hashAll bool
	mask    uint32

	slow bool   // names, affixes, spellings or whole numbers are requested: no fast path
	line []byte // the one in work, from the first '|' on, for warnings
	text []byte // the value of the last feature whose value is text
	side side

	fast  bool     // use scan, where the processor can
	marks []uint32 // the places in line where names and values may end, and two behind it
	mark  int      // how many of them are passed
}

// NewParser makes a parser.
func NewParser(cfg Config) (*Parser, error) {
	p := &Parser{hashAll: cfg.HashAll}
	if err := p.b.init(&cfg); err != nil {
		return nil, err
	}
	p.hash, p.mask = p.b.hash, p.b.mask
	p.slow = cfg.Names || p.b.shape.sides || p.b.limits
	p.fast = hasFast && !p.slow
	return p, nil
}

// AppendLine adds the example of one line to dst; an empty line adds none. The line may end in
// a line feed, a carriage return or both. n is its number for warnings.
//
// vw recovers from all faults of text: each is a Warning or, with Config.Strict, a
// *MalformedError. A *LimitError means that the example is too large. After an error dst is
// unchanged.
func (p *Parser) AppendLine(dst *Batch, line []byte, n int64) error {
	line = TrimLine(line)
	if len(line) == 0 {
		return nil
	}
	p.b.Begin(dst, n)
	head, body := line, line[len(line):]
	if bar := bytes.IndexByte(line, '|'); bar >= 0 {
		head, body = line[:bar], line[bar:]
	}
	p.line = body
	p.markLine(body)
	if len(head) > 0 {
		p.head(head)
	}
	p.namespaces(dst, body)
	p.line, p.text = nil, nil
	return p.b.End()
}

// TrimLine returns line without a byte order mark and without its end: a line feed, a
// carriage return or both.
func TrimLine(line []byte) []byte {
	if len(line) >= 3 && line[0] == 0xef && line[1] == 0xbb && line[2] == 0xbf {
		line = line[3:]
	}
	if k := len(line); k > 0 && line[k-1] == '\n' {
		line = line[:k-1]
	}
	if k := len(line); k > 0 && line[k-1] == '\r' {
		line = line[:k-1]
	}
	return line
}

// head reads the part before the first '|': [label [weight [initial]]] [tag].
func (p *Parser) head(head []byte) {
	if tab := bytes.IndexByte(head, '\t'); tab >= 0 {
		head = head[tab+1:] // vw ignores the part before the first tab
	}
	var words [labelWords][]byte
	var last []byte
	count, end := 0, 0
	for i := 0; ; count++ {
		var word []byte
		if word, i = nextWord(head, i); word == nil {
			break
		}
		last, end = word, i
		if count < labelWords {
			words[count] = word
		}
	}
	// The last word is the tag if it touches the bar (or the end of a line
	// without one), or begins with a quote.
	if count > 0 && (end == len(head) || last[0] == '\'') {
		if last[0] == '\'' {
			last = last[1:]
		}
		p.b.Tag(last)
		count--
	}
	p.b.simpleLabel(&words, count, head)
}

// namespaces reads the rest of the line: '|' name[:value] features, repeated.
func (p *Parser) namespaces(dst *Batch, line []byte) {
	i := 0
	for i < len(line) && line[i] == '|' {
		i++
		ns, factor := p.b.Default(), float32(1)
		switch {
		case endsName(line, i):
		case line[i] == ':':
			p.malformed("'|',String,space, or EOL", i)
			return
		default:
			start := i
			for !endsName(line, i) && line[i] != ':' {
				i++
			}
			ns = p.b.Redefine(p.b.Namespace(line[start:i]))
			if i < len(line) && line[i] == ':' {
				i, factor = p.factor(line, i+1)
			}
		}
		p.b.Enter(ns)
		before := len(dst.Features)
		if p.slow {
			i = p.featuresInFull(dst, line, i, ns, factor)
		} else {
			i = p.features(dst, line, i, ns.Salt, factor)
		}
		if len(dst.Features) > before { // vw ignores a namespace without features
			p.b.List(ns.Byte)
		}
		if p.slow {
			p.endSides(dst)
		}
		if i < len(line) && line[i] != '|' {
			if line[i] != '\r' {
				p.malformed("'|',space, or EOL", i)
			}
			return
		}
	}
}

// factor reads the value of a namespace, which multiplies the values of its features.
func (p *Parser) factor(line []byte, i int) (next int, v float32) {
	v, n := number.Parse(line[i:])
	if i+n >= len(line) {
		p.malformed("Float", i)
	}
	if v != v {
		p.b.Fault(", replacing with 1", "invalid namespace value %q read as NaN", clip(line[i:i+n]))
		v = 1
	}
	return i + n, v
}

// endsName reports whether the name of a namespace ends before line[i], a ':'
// left aside.
func endsName(line []byte, i int) bool {
	if i >= len(line) {
		return true
	}
	switch line[i] {
	case ' ', '\t', '|', '\r':
		return true
	}
	return false
}

// ParseFloat reads the number at the beginning of b as vw does, and returns it with the count of
// bytes that belong to it: 0 if b does not begin with a number. Blanks before the number are
// skipped, and count.
//
// A plain decimal that is followed by a blank, a tab, a line feed or the end of b is accumulated
// in float32, digit by digit, and scaled by a power of ten from a table, so that it may differ
// from the nearest float32 in the last bits. Everything else is left to the rules of C's strtof:
// signs, "inf", "nan", hexadecimal, numbers with something behind them.
func ParseFloat(b []byte) (float32, int) { return number.Parse(b) }
