// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"bytes"
	"fmt"
	"hash/crc64"
	"strconv"
)

// dictionaryNamespace is where vw puts the features that dictionaries add. Options
// name it by \x87.
const dictionaryNamespace byte = 135

// A Dictionary adds features for the features whose names are its words. It depends on
// the hashing of its Config.
type Dictionary struct {
	namespace byte
	digest    uint64 // of the text
	words     map[string]entry
}

// entry is the features of a word.
type entry struct {
	features []Feature
	whole    []uint64 // see limit.go
}

// NewDictionary reads the text of a dictionary for the namespaces that begin with ns:
// a line is a word and features as in vw's text, of which those without a namespace
// count. Of lines with the same word the first counts.
func NewDictionary(ns byte, text []byte, cfg *Config) (*Dictionary, error) {
	p, err := NewParser(Config{
		Bits: cfg.Bits, HashAll: cfg.HashAll, HashSeed: cfg.HashSeed, Redefine: cfg.Redefine,
		NoConstant: true, Strict: cfg.Strict, MaxLine: cfg.MaxLine,
	})
	if err != nil {
		return nil, err
	}
	p.slow, p.fast, p.b.limits = true, false, true // to have whole numbers
	d := &Dictionary{
		namespace: ns,
		digest:    crc64.Checksum(text, crc64.MakeTable(crc64.ECMA)),
		words:     map[string]entry{},
	}
	var b Batch
	n := int64(0)
	for line := range bytes.Lines(text) {
		n++
		line = bytes.TrimLeft(line, " \t")
		end := bytes.IndexAny(line, " \t\n")
		if end < 1 || line[end] == '\n' {
			continue
		}
		if len(line) > cfg.LineLimit() {
			return nil, fmt.Errorf("feature: line %d has %d bytes, the limit is %d", n, len(line), cfg.LineLimit())
		}
		if _, known := d.words[string(line[:end])]; known {
			continue
		}
		b.Reset()
		if err := p.AppendLine(&b, append([]byte{'|'}, line[end:]...), n); err != nil {
			return nil, err
		}
		d.add(string(line[:end]), &b, p.b.whole)
	}
	return d, nil
}

// add keeps the features of the default namespace of b's example.
func (d *Dictionary) add(word string, b *Batch, whole []uint64) {
	for i := range b.Examples {
		for _, s := range b.SpansOf(&b.Examples[i]) {
			if s.NS == ' ' {
				d.words[word] = entry{
					features: append([]Feature(nil), b.Features[s.Lo:s.Hi]...),
					whole:    append([]uint64(nil), whole[s.Lo:s.Hi]...),
				}
			}
		}
	}
}

// Words returns the number of words that add features.
func (d *Dictionary) Words() int { return len(d.words) }

// String identifies the dictionary by its namespace and a hash of its text.
func (d *Dictionary) String() string {
	return fmt.Sprintf("%s:%016x", Escape(string([]byte{d.namespace})), d.digest)
}

// lookUp adds what the dictionaries of the namespace have for a name.
func (p *Parser) lookUp(dst *Batch, in Namespace, name []byte) {
	for _, d := range p.b.shape.dictionaries[in.Byte] {
		e, found := d.words[string(name)]
		if !found || len(p.side.dictionary) > MaxFeatures { // End refuses such an example
			continue
		}
		p.b.List(dictionaryNamespace) // it comes before the namespace in work, as in vw
		p.side.dictionary = append(p.side.dictionary, e.features...)
		if p.b.limits {
			for _, n := range e.whole {
				p.side.dictionaryWhole = append(p.side.dictionaryWhole, n&p.b.cut)
			}
		}
		if !p.b.named {
			continue
		}
		for _, f := range e.features {
			text := append([]byte{in.Byte, '_'}, name...)
			text = strconv.AppendUint(append(text, '='), uint64(f.Index), 10)
			dst.appendName([]byte("dictionary"), text, nil)
			p.side.dictionaryNames = dst.takeName(p.side.dictionaryNames)
		}
	}
}
