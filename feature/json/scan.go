// SPDX-License-Identifier: Apache-2.0

package json

import (
	"fmt"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gvw-project/gvw/feature"
)

const maxQuote = 60 // bytes of the text that an error quotes

func clip(b []byte) []byte { return b[:min(len(b), maxQuote)] }

// fault returns an error for the next byte.
func (p *Parser) fault(format string, args ...any) *feature.MalformedError {
	return &feature.MalformedError{Column: p.i + 1, Text: "malformed JSON: " + fmt.Sprintf(format, args...)}
}

// peek skips blanks and returns the next byte, or 0 at the end.
func (p *Parser) peek() byte {
	for p.i < len(p.line) {
		switch c := p.line[p.i]; c {
		case ' ', '\t', '\r', '\n':
			p.i++
		default:
			return c
		}
	}
	return 0
}

// literal reads true, false or null.
func (p *Parser) literal(word string) *feature.MalformedError {
	if len(p.line)-p.i < len(word) || string(p.line[p.i:p.i+len(word)]) != word {
		return p.fault("a value is needed")
	}
	p.i += len(word)
	return nil
}

// readKey reads a key and the ':' after it. The key is valid until the next one is read.
func (p *Parser) readKey() (key []byte, err *feature.MalformedError) {
	if p.peek() != '"' {
		return nil, p.fault("a key is needed, like \"x\"")
	}
	if key, err = p.readString(&p.key); err != nil {
		return nil, err
	}
	if p.peek() != ':' {
		return nil, p.fault("a ':' is needed behind the key %q", clip(key))
	}
	p.i++
	return key, nil
}

// readText reads a value that is text. It is valid until the next one is read.
func (p *Parser) readText() ([]byte, *feature.MalformedError) { return p.readString(&p.text) }

// readString reads the text that begins with the quote at the next byte: it is
// in the line itself or, where it has escapes, in buf.
func (p *Parser) readString(buf *[]byte) ([]byte, *feature.MalformedError) {
	start := p.i + 1
	for i := start; i < len(p.line); i++ {
		switch c := p.line[i]; {
		case c == '"':
			p.i = i + 1
			return p.line[start:i], nil
		case c == '\\':
			*buf = append((*buf)[:0], p.line[start:i]...)
			p.i = i
			return p.readEscaped(buf)
		case c < ' ':
			p.i = i
			return nil, p.fault("control character %#02x in a text: write it as an escape", c)
		}
	}
	return nil, p.fault("the text that begins here does not end")
}

// readEscaped continues a text from its first escape on.
func (p *Parser) readEscaped(buf *[]byte) ([]byte, *feature.MalformedError) {
	out := *buf
	for p.i < len(p.line) {
		c := p.line[p.i]
		switch {
		case c == '"':
			p.i++
			*buf = out
			return out, nil
		case c < ' ':
			return nil, p.fault("control character %#02x in a text: write it as an escape", c)
		case c != '\\':
			out = append(out, c)
			p.i++
			continue
		}
		if p.i+1 == len(p.line) {
			break
		}
		if p.line[p.i+1] == 'u' {
			r, err := p.escapedRune()
			if err != nil {
				return nil, err
			}
			out = utf8.AppendRune(out, r)
			continue
		}
		plain := unescape(p.line[p.i+1])
		if plain == 0 {
			return nil, p.fault("unknown escape \\%c in a text", p.line[p.i+1])
		}
		out = append(out, plain)
		p.i += 2
	}
	return nil, p.fault("the text that ends here has no closing quote")
}

// unescape returns the character for which \c stands; 0: none.
func unescape(c byte) byte {
	switch c {
	case '"', '\\', '/':
		return c
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return 0
}

// escapedRune reads \uXXXX, or two of them that are one character.
func (p *Parser) escapedRune() (rune, *feature.MalformedError) {
	r, ok := p.hex4()
	if !ok {
		return 0, p.fault("four hexadecimal digits are needed behind \\u")
	}
	if !utf16.IsSurrogate(r) {
		p.i += 6
		return r, nil
	}
	first := p.i
	p.i += 6
	second, ok := p.hex4()
	both := utf16.DecodeRune(r, second)
	if !ok || both == utf8.RuneError {
		p.i = first
		return 0, p.fault("half a character: \\u%04x needs its other half", r)
	}
	p.i += 6
	return both, nil
}

// hex4 returns the number of the \uXXXX at the next byte, which it does not consume.
func (p *Parser) hex4() (r rune, ok bool) {
	if len(p.line)-p.i < 6 || p.line[p.i] != '\\' || p.line[p.i+1] != 'u' {
		return 0, false
	}
	for _, c := range p.line[p.i+2 : p.i+6] {
		switch {
		case c-'0' <= 9:
			c -= '0'
		case c|0x20-'a' <= 5:
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// skip passes over a value, whose inside need not be valid, as in vw.
func (p *Parser) skip() *feature.MalformedError {
	p.peek()
	start, depth := p.i, 0
	for ; p.i < len(p.line); p.i++ {
		switch p.line[p.i] {
		case '"':
			for p.i++; p.i < len(p.line) && p.line[p.i] != '"'; p.i++ {
				if p.line[p.i] == '\\' {
					p.i++
				}
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return nil
			}
			depth--
		case ',':
			if depth == 0 {
				return nil
			}
		}
	}
	p.i = start
	return p.fault("the value that begins here does not end")
}
