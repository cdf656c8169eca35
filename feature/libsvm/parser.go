// SPDX-License-Identifier: Apache-2.0

package libsvm

import (
	"bytes"
	"fmt"

	"github.com/gvw-project/gvw/feature"
)

// Name names the format.
const Name = "libsvm"

// Parser turns lines of LIBSVM's format into examples. Not for use by more than
// one goroutine at a time.
type Parser struct {
	b       *feature.Builder
	hashAll bool
	ns      feature.Namespace

	line []byte // in work, without comment and blanks at its end
	i    int    // of the next byte
}

// NewParser makes a parser.
func NewParser(cfg feature.Config) (*Parser, error) {
	b, err := feature.NewBuilder(cfg)
	if err != nil {
		return nil, err
	}
	return &Parser{b: b, hashAll: cfg.HashAll, ns: b.Default()}, nil
}

// AppendLine adds the example of one line to dst, if there is one. The line may end in a line
// feed, a carriage return or both. n is its number. On error dst is unchanged.
func (p *Parser) AppendLine(dst *feature.Batch, line []byte, n int64) error {
	line = feature.TrimLine(line)
	if k := bytes.IndexByte(line, '#'); k >= 0 {
		line = line[:k]
	}
	for len(line) > 0 && blank(line[len(line)-1]) {
		line = line[:len(line)-1]
	}
	p.line, p.i = line, 0
	if !p.more() {
		return nil
	}
	p.b.Begin(dst, n)
	if err := p.example(dst); err != nil {
		p.b.Cancel()
		err.Line = n
		return err
	}
	return p.b.End()
}

// example reads a line that has a label.
func (p *Parser) example(dst *feature.Batch) *feature.MalformedError {
	start := p.i
	word := p.word()
	v, ok := number(word)
	switch {
	case bytes.IndexByte(word, ':') >= 0:
		return fault(start, "the line begins with a feature, %q: a label comes first", clip(word))
	case !ok:
		return fault(start, "the label %q is not a number", clip(word))
	}
	p.b.SetLabel(v)
	p.b.Enter(p.ns)
	before := len(dst.Features)
	for first := true; p.more(); first = false {
		if first && bytes.HasPrefix(p.line[p.i:], []byte("qid:")) {
			p.word()
			continue
		}
		if err := p.feature(); err != nil {
			return err
		}
	}
	if len(dst.Features) > before {
		p.b.List(p.ns.Byte)
	}
	return nil
}

// feature reads index:value.
func (p *Parser) feature() *feature.MalformedError {
	start := p.i
	hash := p.ns.Salt
	for p.i < len(p.line) && p.line[p.i]-'0' <= 9 {
		p.i++
	}
	index := p.line[start:p.i]
	if len(index) == 0 || p.i == len(p.line) || p.line[p.i] != ':' {
		p.i = start
		return fault(start, "%q is not index:value with an index of digits", clip(p.word()))
	}
	if p.hashAll {
		hash = p.b.Hash(index, hash)
	} else {
		value := uint32(0)
		for _, c := range index {
			value = value*10 + uint32(c-'0') // modulo 2^32, as vw
		}
		hash += value
	}
	p.i++
	at := p.i
	word := p.word()
	v, ok := number(word)
	if !ok {
		return fault(at, "the value %q of feature %s is not a number", clip(word), clip(index))
	}
	p.b.AddNamed(index, nil, hash, v)
	return nil
}

// more skips blanks and reports whether something follows.
func (p *Parser) more() bool {
	for p.i < len(p.line) && blank(p.line[p.i]) {
		p.i++
	}
	return p.i < len(p.line)
}

// word returns the text up to the next blank.
func (p *Parser) word() []byte {
	start := p.i
	for p.i < len(p.line) && !blank(p.line[p.i]) {
		p.i++
	}
	return p.line[start:p.i]
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// number reads a word that is a number as a whole.
func number(word []byte) (v float32, ok bool) {
	v, n := feature.ParseFloat(word)
	if n == 0 || n != len(word) || v != v {
		return 0, false
	}
	// vw's numbers include "-" and "e", which are 0.
	return v, v != 0 || bytes.ContainsAny(word, "0123456789")
}

const maxQuote = 60 // bytes of the text that an error quotes

func clip(b []byte) []byte { return b[:min(len(b), maxQuote)] }

// fault returns an error for byte i.
func fault(i int, format string, args ...any) *feature.MalformedError {
	return &feature.MalformedError{Column: i + 1, Text: fmt.Sprintf(format, args...)}
}
