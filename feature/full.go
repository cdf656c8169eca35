// SPDX-License-Identifier: Apache-2.0

package feature

// side holds the features that affixes, spellings and dictionaries add for a namespace,
// until it ends.
type side struct {
	affix, spelling, dictionary                []Feature
	affixWhole, spellingWhole, dictionaryWhole []uint64 // see limit.go
	affixNames, spellingNames, dictionaryNames []Name
	pattern                                    []byte
}

// featuresInFull is features for all options: it keeps names, and adds affixes, spellings
// and the features of dictionaries.
func (p *Parser) featuresInFull(dst *Batch, line []byte, i int, in Namespace, factor float32) int {
	var anonymous uint32
	for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
		i++
		start := i
		p.text = nil
		var hash uint32
		var v float32
		if hash, v, i = p.feature(line, i, in.Salt, factor, &anonymous); v == 0 {
			continue
		}
		end := start
		for !endsName(line, end) && line[end] != ':' {
			end++
		}
		name := line[start:end]
		if len(name) == 0 && len(p.text) == 0 {
			p.b.Add(nil, hash, v)
		} else {
			p.b.AddNamed(name, p.text, hash, v)
		}
		if code := p.b.shape.affix[in.Byte]; code != 0 && len(name) > 0 {
			p.affixes(dst, in, name, code, v)
		}
		if p.b.shape.spelling[in.Byte] {
			p.spell(dst, in, name, v)
		}
		p.lookUp(dst, in, name)
	}
	return i
}

// affixes adds the prefixes and suffixes of a name, the last one of the options first. A
// shorter name is used as a whole.
func (p *Parser) affixes(dst *Batch, in Namespace, name []byte, code uint64, v float32) {
	p.b.List(affixNamespace) // it comes before the namespace in work, as in vw
	for ; code > 0; code >>= 4 {
		size, piece := int(code>>1&7), name
		if len(name) > size {
			piece = name[len(name)-size:]
			if code&1 != 0 {
				piece = name[:size]
			}
		}
		number := wholeAffix(p.hash(piece, in.Salt), code)
		p.side.affix = append(p.side.affix, Feature{Index: uint32(number) & p.mask, Value: v})
		p.side.affixWhole = append(p.side.affixWhole, number&p.b.cut)
		if p.b.named {
			text := append(in.letter(""), "-+"[code&1], byte('0'+size), '=')
			dst.appendName([]byte("affix"), append(text, piece...), nil)
			p.side.affixNames = dst.takeName(p.side.affixNames)
		}
	}
}

// affixFactor is vw's.
const affixFactor = 13903957

// spell adds the feature for the kinds of letters in a name.
func (p *Parser) spell(dst *Batch, in Namespace, name []byte, v float32) {
	p.b.List(spellingNamespace)
	b := p.side.pattern[:0]
	for _, c := range name {
		switch {
		case c >= '0' && c <= '9':
			c = '0'
		case c >= 'a' && c <= 'z':
			c = 'a'
		case c >= 'A' && c <= 'Z':
			c = 'A'
		case c != '.':
			c = '#'
		}
		b = append(b, c)
	}
	p.side.pattern = b
	index := HashStrings(b, in.Salt) // for every value of --hash
	p.side.spelling = append(p.side.spelling, Feature{Index: index & p.mask, Value: v})
	p.side.spellingWhole = append(p.side.spellingWhole, whole(index)&p.b.cut)
	if p.b.named {
		dst.appendName([]byte("spelling"), append(in.letter("_"), b...), nil)
		p.side.spellingNames = dst.takeName(p.side.spellingNames)
	}
}

// letter returns the namespace in the names of affixes and spellings, with what
// follows it; nothing for the default one.
func (ns Namespace) letter(after string) []byte {
	if ns.Byte == ' ' {
		return nil
	}
	return append([]byte{ns.Byte}, after...)
}

// takeName moves the last name of b to the end of names.
func (b *Batch) takeName(names []Name) []Name {
	k := len(b.Names) - 1
	names = append(names, b.Names[k])
	b.Names = b.Names[:k]
	return names
}

// endSides appends the additional features of a namespace that has ended.
func (p *Parser) endSides(dst *Batch) {
	s := &p.side
	p.b.Enter(Namespace{Byte: affixNamespace})
	dst.Features, dst.Names = append(dst.Features, s.affix...), append(dst.Names, s.affixNames...)
	p.b.Enter(Namespace{Byte: spellingNamespace})
	dst.Features, dst.Names = append(dst.Features, s.spelling...), append(dst.Names, s.spellingNames...)
	p.b.Enter(Namespace{Byte: dictionaryNamespace})
	dst.Features, dst.Names = append(dst.Features, s.dictionary...), append(dst.Names, s.dictionaryNames...)
	if p.b.limits {
		p.b.whole = append(append(append(p.b.whole, s.affixWhole...), s.spellingWhole...), s.dictionaryWhole...)
	}
	s.dictionary, s.dictionaryNames, s.dictionaryWhole = s.dictionary[:0], s.dictionaryNames[:0], s.dictionaryWhole[:0]
	s.affix, s.affixNames, s.affixWhole = s.affix[:0], s.affixNames[:0], s.affixWhole[:0]
	s.spelling, s.spellingNames, s.spellingWhole = s.spelling[:0], s.spellingNames[:0], s.spellingWhole[:0]
}
