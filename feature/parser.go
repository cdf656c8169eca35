// SPDX-License-Identifier: Apache-2.0

package feature

import "bytes"

// Parser turns lines of vw's text into examples. Not for use by more than one
// goroutine at a time.
type Parser struct {
	hash     func(s []byte, seed uint32) uint32
	hashAll  bool
	mask     uint32
	seed     uint32
	salt     uint32 // hash of the default namespace
	constant Feature
	bare     bool // no constant
	inter    *Interactor

	// State of the line in work.
	line   []byte // from the first '|' on, for warnings
	number int64
	warned int

	// seen maps the first byte of a namespace's name to its span, counted from
	// 1, in Batch.Spans; 0: not in this example.
	seen      [256]uint32
	runs      []run // the occurrences of namespaces, in the order of the text
	scattered bool  // a namespace came back after another one: regroup
	regrouped []Feature
}

// run is one occurrence of a namespace in the text.
type run struct{ span, lo, hi uint32 }

// NewParser makes a parser.
func NewParser(cfg Config) (*Parser, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	p := &Parser{
		hash:     hasher(cfg.HashAll),
		hashAll:  cfg.HashAll,
		mask:     cfg.Mask(),
		seed:     cfg.HashSeed,
		salt:     cfg.defaultSalt(),
		constant: Feature{Index: ConstantIndex & cfg.Mask(), Value: 1},
		bare:     cfg.NoConstant,
	}
	if len(cfg.Interactions) > 0 {
		p.inter = newInteractor(&cfg)
	}
	return p, nil
}

// AppendLine adds the example of one line to dst; an empty line is none. The
// line may end in a line feed, in a carriage return and in both. n is its number
// for warnings.
//
// Text can only go wrong in ways that vw recovers from: each is a Warning. The
// error is a *LimitError: interactions made the example too large. dst is then
// as it was before.
func (p *Parser) AppendLine(dst *Batch, line []byte, n int64) error {
	if len(line) >= 3 && line[0] == 0xef && line[1] == 0xbb && line[2] == 0xbf {
		line = line[3:] // a byte order mark
	}
	if k := len(line); k > 0 && line[k-1] == '\n' {
		line = line[:k-1]
	}
	if k := len(line); k > 0 && line[k-1] == '\r' {
		line = line[:k-1]
	}
	if len(line) == 0 {
		return nil
	}
	ex := Example{
		Label:  NoLabel,
		Weight: 1,
		TagLo:  uint32(len(dst.Tags)),
		SpanLo: uint32(len(dst.Spans)),
		FeatLo: uint32(len(dst.Features)),
	}
	p.number, p.warned = n, 0

	head, body := line, line[len(line):]
	if bar := bytes.IndexByte(line, '|'); bar >= 0 {
		head, body = line[:bar], line[bar:]
	}
	p.line = body
	if len(head) > 0 {
		p.head(dst, &ex, head)
	}
	p.namespaces(dst, body)
	if p.scattered {
		p.regroup(dst, ex.FeatLo)
	}
	for i := range dst.Spans[ex.SpanLo:] {
		p.seen[dst.Spans[int(ex.SpanLo)+i].NS] = 0
	}
	p.runs = p.runs[:0]
	p.line = nil

	if !p.bare {
		k := uint32(len(dst.Features))
		dst.Features = append(dst.Features, p.constant)
		dst.Spans = append(dst.Spans, Span{NS: ConstantNamespace, Lo: k, Hi: k + 1})
	}
	ex.TagHi = uint32(len(dst.Tags))
	ex.SpanHi = uint32(len(dst.Spans))
	if p.inter != nil {
		if err := p.inter.add(dst, dst.Features, dst.Spans[ex.SpanLo:]); err != nil {
			err.Line = n
			dst.Features = dst.Features[:ex.FeatLo]
			dst.Spans = dst.Spans[:ex.SpanLo]
			dst.Tags = dst.Tags[:ex.TagLo]
			return err
		}
	}
	ex.FeatHi = uint32(len(dst.Features))
	dst.Examples = append(dst.Examples, ex)
	return nil
}

// head reads what stands before the first '|': [label [weight [initial]]] [tag].
func (p *Parser) head(dst *Batch, ex *Example, head []byte) {
	if tab := bytes.IndexByte(head, '\t'); tab >= 0 {
		head = head[tab+1:] // what precedes the first tab is not vw's business
	}
	var words [3][]byte
	var last []byte
	count, end := 0, 0
	for i := 0; i < len(head); {
		if head[i] == ' ' {
			i++
			continue
		}
		start := i
		for i < len(head) && head[i] != ' ' {
			i++
		}
		last, end = head[start:i], i
		if count < len(words) {
			words[count] = last
		}
		count++
	}
	// The last word is the tag if it touches the bar (or the end of a line
	// without one), or begins with a quote.
	if count > 0 && (end == len(head) || last[0] == '\'') {
		if last[0] == '\'' {
			last = last[1:]
		}
		dst.Tags = append(dst.Tags, last...)
		count--
	}
	if count > len(words) {
		p.warn(dst, "%d is too many tokens for a simple label: %q; the example has no label", count, clip(head))
		return
	}
	if count > 0 {
		ex.Label = p.labelNumber(dst, words[0])
	}
	if count > 1 {
		ex.Weight = p.labelNumber(dst, words[1])
		if ex.Weight < 0 {
			p.warn(dst, "invalid importance weight (%g); importance weights must be non-negative; the example is predicted, not learned from", ex.Weight)
			ex.Weight = 0
		}
	}
	if count > 2 {
		ex.Initial = p.labelNumber(dst, words[2])
	}
}

// labelNumber reads one number of the label.
func (p *Parser) labelNumber(dst *Batch, word []byte) float32 {
	v, n := ParseFloat(word)
	if n == 0 || v != v {
		p.warn(dst, "%q is not a good float, replacing with 0", clip(word))
		return 0
	}
	return v
}

// namespaces reads the rest of the line: '|' name[:value] features, repeated.
func (p *Parser) namespaces(dst *Batch, line []byte) {
	i := 0
	for i < len(line) && line[i] == '|' {
		i++
		ns, salt, factor := byte(' '), p.salt, float32(1)
		switch {
		case endsName(line, i):
		case line[i] == ':':
			p.malformed(dst, "'|',String,space, or EOL", i)
			return
		default:
			ns = line[i]
			start := i
			for !endsName(line, i) && line[i] != ':' {
				i++
			}
			salt = p.hash(line[start:i], p.seed)
			if i < len(line) && line[i] == ':' {
				i, factor = p.factor(dst, line, i+1)
			}
		}
		lo := uint32(len(dst.Features))
		i = p.features(dst, line, i, salt, factor)
		p.endNamespace(dst, ns, lo)
		if i < len(line) && line[i] != '|' {
			if line[i] != '\r' {
				p.malformed(dst, "'|',space, or EOL", i)
			}
			return
		}
	}
}

// factor reads the value of a namespace, with which its features multiply.
func (p *Parser) factor(dst *Batch, line []byte, i int) (next int, v float32) {
	v, n := ParseFloat(line[i:])
	if i+n >= len(line) {
		p.malformed(dst, "Float", i)
	}
	if v != v {
		p.warn(dst, "invalid namespace value %q read as NaN, replacing with 1", clip(line[i:i+n]))
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

// endNamespace ends one occurrence of a namespace, whose features lie from lo on.
func (p *Parser) endNamespace(dst *Batch, ns byte, lo uint32) {
	hi := uint32(len(dst.Features))
	if lo == hi {
		return // vw does not know a namespace without features
	}
	span := p.seen[ns]
	if span == 0 {
		dst.Spans = append(dst.Spans, Span{NS: ns, Lo: lo, Hi: hi})
		span = uint32(len(dst.Spans))
		p.seen[ns] = span
	} else {
		if dst.Spans[span-1].Hi != lo {
			p.scattered = true
		}
		dst.Spans[span-1].Hi = hi
	}
	p.runs = append(p.runs, run{span: span - 1, lo: lo, hi: hi})
}

// regroup brings the occurrences of each namespace together, where the first
// one is. The features of the example begin at base.
func (p *Parser) regroup(dst *Batch, base uint32) {
	p.scattered = false
	first := p.runs[0].span
	spans := dst.Spans[first:]
	for i := range spans {
		spans[i].Hi = 0
	}
	for _, r := range p.runs {
		spans[r.span-first].Hi += r.hi - r.lo
	}
	at := base
	for i := range spans {
		spans[i].Lo, at = at, at+spans[i].Hi
		spans[i].Hi = spans[i].Lo // grows to its end below
	}
	p.regrouped = append(p.regrouped[:0], dst.Features[base:]...)
	for _, r := range p.runs {
		s := &spans[r.span-first]
		copy(dst.Features[s.Hi:], p.regrouped[r.lo-base:r.hi-base])
		s.Hi += r.hi - r.lo
	}
}
