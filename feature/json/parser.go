// SPDX-License-Identifier: Apache-2.0

package json

import (
	"bytes"
	"strconv"

	"github.com/gvw-project/gvw/feature"
)

// Name names the format.
const Name = "json"

// MaxDepth is the limit of nested objects and arrays.
const MaxDepth = 1000

// Parser turns lines of JSON into examples. Not for use by more than one
// goroutine at a time.
type Parser struct {
	b     *feature.Builder
	chain bool // cfg.ChainHash
	named bool // cfg.Names
	root  feature.Namespace

	line  []byte // in work
	i     int    // of the next byte
	stack []frame
	// position is the hash of the next feature of an array. vw has but one, so
	// that an array inside of another one's object moves the outer one's.
	position uint32

	key, text []byte // what the last key and text are, where they have escapes
	joined    []byte // key and text as one name
	names     []byte // names of the namespaces, if features keep their names
}

// frame is an object or an array that is open.
type frame struct {
	ns    feature.Namespace
	array bool
	used  bool // it has features, besides those of inner frames
}

// NewParser makes a parser.
func NewParser(cfg feature.Config) (*Parser, error) {
	b, err := feature.NewBuilder(cfg)
	if err != nil {
		return nil, err
	}
	root := b.Namespace([]byte{' '}) // vw hashes the name of its default namespace here, a blank
	root.Name = nil                  // and shows none
	return &Parser{b: b, chain: cfg.ChainHash, named: cfg.Names, root: root}, nil
}

// AppendLine adds the example of one line to dst. The line may end in a line
// feed, in a carriage return and in both. n is its number. On error, a
// *feature.MalformedError or a *feature.LimitError, dst holds what it held before.
func (p *Parser) AppendLine(dst *feature.Batch, line []byte, n int64) error {
	p.line, p.i, p.stack, p.names = feature.TrimLine(line), 0, p.stack[:0], p.names[:0]
	p.b.Begin(dst, n)
	err := p.document()
	p.line = nil
	if err != nil {
		p.b.Cancel()
		err.Line = n
		return err
	}
	return p.b.End()
}

// document reads the object that is the line.
func (p *Parser) document() *feature.MalformedError {
	if p.peek() != '{' {
		return p.fault("an object is needed, like {\"_label\": 1, \"x\": 2}")
	}
	p.i++
	if err := p.push(frame{ns: p.root}); err != nil {
		return err
	}
	for first := true; len(p.stack) > 0; {
		top := &p.stack[len(p.stack)-1]
		end := byte('}')
		if top.array {
			end = ']'
		}
		c := p.peek()
		if c == end {
			p.i++
			p.pop()
			first = false
			continue
		}
		if !first {
			if c != ',' {
				return p.fault("a comma or '%c' is needed", end)
			}
			p.i++
		}
		depth := len(p.stack)
		var err *feature.MalformedError
		if top.array {
			err = p.element(top)
		} else {
			err = p.member(top)
		}
		if err != nil {
			return err
		}
		first = len(p.stack) > depth
	}
	if p.peek() != 0 || p.i < len(p.line) {
		return p.fault("something follows the object")
	}
	return nil
}

// push opens an object or array.
func (p *Parser) push(f frame) *feature.MalformedError {
	if len(p.stack) == MaxDepth {
		return p.fault("more than %d objects and arrays in each other", MaxDepth)
	}
	p.stack = append(p.stack, f)
	p.b.Enter(f.ns)
	return nil
}

// pop closes the innermost object or array.
func (p *Parser) pop() {
	k := len(p.stack) - 1
	if f := &p.stack[k]; f.used {
		p.b.List(f.ns.Byte)
	}
	p.stack = p.stack[:k]
	if k > 0 {
		p.b.Enter(p.stack[k-1].ns)
	}
}

// member reads a key and its value.
func (p *Parser) member(top *frame) *feature.MalformedError {
	key, err := p.readKey()
	if err != nil {
		return err
	}
	if len(key) > 0 && key[0] == '_' {
		return p.special(top, key)
	}
	whole, key := key, cut(key)
	switch c := p.peek(); c {
	case '{':
		p.i++
		return p.push(frame{ns: p.namespace(key)})
	case '[':
		p.i++
		ns := p.namespace(key)
		p.position = ns.Salt
		return p.push(frame{ns: ns, array: true})
	case '"':
		text, err := p.readText()
		if err != nil {
			return err
		}
		p.textFeature(whole, text)
		top.used = true
	case 't':
		if err := p.literal("true"); err != nil {
			return err
		}
		p.b.Feature(key, 1)
		top.used = true
	case 'f':
		return p.literal("false")
	case 'n':
		return p.literal("null")
	default:
		v, err := p.number()
		if err != nil {
			return err
		}
		if v != 0 {
			p.b.Feature(key, v)
			top.used = true
		}
	}
	return nil
}

// element reads an element of an array.
func (p *Parser) element(top *frame) *feature.MalformedError {
	switch p.peek() {
	case '{':
		p.i++
		return p.push(frame{ns: top.ns})
	case 'n':
		return p.literal("null")
	case '[':
		return p.fault("an array in an array is no namespace")
	case '"', 't', 'f':
		return p.fault("an array may hold numbers and objects only")
	}
	v, err := p.number()
	if err != nil {
		return err
	}
	if v != 0 {
		p.b.Add(p.positionName(top), p.position, v)
		top.used = true
	}
	p.position++
	return nil
}

// namespace returns the namespace of that name.
func (p *Parser) namespace(name []byte) feature.Namespace {
	ns := p.b.Namespace(name)
	if p.named { // the next key may overwrite the name
		lo := len(p.names)
		p.names = append(p.names, name...)
		ns.Name = p.names[lo:]
	}
	return ns
}

// positionName returns the name that vw shows for an element of an array: "[2]".
func (p *Parser) positionName(top *frame) []byte {
	if !p.named {
		return nil
	}
	p.joined = append(p.joined[:0], '[')
	p.joined = strconv.AppendUint(p.joined, uint64(p.position-top.ns.Salt), 10)
	p.joined = append(p.joined, ']')
	return p.joined
}

// textFeature adds the feature of a key whose value is text. In one name the
// key's byte 0, if it has one, hides the text, too.
func (p *Parser) textFeature(key, text []byte) {
	p.joined = append(append(p.joined[:0], key...), text...)
	text = p.joined[len(key):]
	for i, c := range text {
		switch c {
		case ' ', '\t', '|', ':':
			text[i] = '_'
		}
	}
	if p.chain {
		p.b.TextFeature(cut(key), cut(text))
	} else {
		p.b.Feature(cut(p.joined), 1)
	}
}

// cut returns the text up to its first byte 0, where it ends for vw.
func cut(text []byte) []byte {
	if k := bytes.IndexByte(text, 0); k >= 0 {
		return text[:k]
	}
	return text
}
