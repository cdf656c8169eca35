// SPDX-License-Identifier: Apache-2.0

package csv

import (
	"bytes"
	"strconv"

	"github.com/gvw-project/gvw/feature"
)

// A cell with several values (Config.Several) is in quotes and begins with Mark and their kind. Mark also precedes each
// value. No value contains it.
const (
	Mark = 0x1f
	// Numbers: value k of the column name is the feature name_k, as of a column with that name. An empty value is null.
	Numbers = 'n'
	// Words: each value is a text of the column.
	Words = 'w'
	// Entries: names and values take turns. A name is that of a feature in the column's namespace, as of a column with
	// that name. A value that is a text begins with Word.
	Entries = 'e'
	Word    = 't'
)

// element is a value of Numbers.
type element struct {
	name []byte
	hash uint32
}

// element returns the name and the hash of value k.
func (p *Parser) element(s *space, c *column, k int) element {
	for len(c.elements) <= k {
		name := strconv.AppendInt(append(bytes.Clone(c.name), '_'), int64(len(c.elements)), 10)
		c.elements = append(c.elements, element{name, p.b.Hash(name, s.ns.Salt)})
	}
	return c.elements[k]
}

// several adds the features of a cell with several values. anonymous is the number of the next feature without a name,
// which it returns.
func (p *Parser) several(s *space, c *column, text []byte, anonymous uint32) uint32 {
	if len(text) < 2 {
		return anonymous
	}
	kind, rest := text[1], text[2:]
	for k := 0; len(rest) > 0; k++ {
		var v []byte
		v, rest = value(rest)
		switch kind {
		case Numbers:
			if number, ok := number(v); ok && len(c.name) == 0 {
				p.b.Add(nil, anonymous, s.factor*number)
			} else if ok {
				e := p.element(s, c, k)
				p.b.AddNamed(e.name, nil, e.hash, s.factor*number)
			}
			if len(c.name) == 0 {
				anonymous++
			}
		case Words:
			p.b.AddNamed(c.name, v, p.b.Hash(v, c.hash), 1)
		case Entries:
			name := v
			if len(rest) == 0 {
				return anonymous
			}
			v, rest = value(rest)
			hash := p.b.Hash(name, s.ns.Salt)
			if len(v) > 0 && v[0] == Word {
				p.b.AddNamed(name, v[1:], p.b.Hash(v[1:], hash), 1)
			} else if number, ok := number(v); ok {
				p.b.AddNamed(name, nil, hash, s.factor*number)
			}
		}
	}
	return anonymous
}

// value returns the value behind the mark at the begin of a cell's rest, and what follows it.
func value(rest []byte) (v, after []byte) {
	rest = rest[1:]
	if k := bytes.IndexByte(rest, Mark); k >= 0 {
		return rest[:k], rest[k:]
	}
	return rest, nil
}

// number returns the number that a text is; ok is false if it is none.
func number(text []byte) (v float32, ok bool) {
	v, n := feature.ParseFloat(text)
	return v, n > 0 && n == len(text) && v == v
}
