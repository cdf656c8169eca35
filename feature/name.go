// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"bytes"
	"slices"
)

// appendName appends the name of a feature as vw writes it: the namespace unless
// it is the default one, the name, and the text that is its value.
func (b *Batch) appendName(ns, name, value []byte) {
	lo := uint32(len(b.NameText))
	if len(ns) > 0 {
		b.NameText = append(append(b.NameText, ns...), '^')
	}
	n := Name{Lo: lo, LeafLo: uint32(len(b.NameText))}
	b.NameText = append(b.NameText, name...)
	n.LeafHi = uint32(len(b.NameText))
	if len(value) > 0 {
		b.NameText = append(append(b.NameText, '^'), value...)
	}
	n.Hi = uint32(len(b.NameText))
	b.Names = append(b.Names, n)
}

// appendGramName appends the name of the n-gram of feature i and those at the
// offsets after it: the first one's namespace, and all names.
func (b *Batch) appendGramName(i int, offsets []int) {
	first := b.Names[i]
	ns := slices.Clone(bytes.TrimSuffix(b.NameText[first.Lo:first.LeafLo], []byte("^")))
	leaf := slices.Clone(b.NameText[first.LeafLo:first.LeafHi])
	for _, k := range offsets {
		n := b.Names[i+k]
		leaf = append(append(leaf, '^'), b.NameText[n.LeafLo:n.LeafHi]...)
	}
	b.appendName(ns, leaf, nil)
}

// appendProduct appends the name of an interaction.
func (b *Batch) appendProduct(path []Name, last Name) {
	lo := uint32(len(b.NameText))
	for _, n := range path {
		b.NameText = append(append(b.NameText, b.NameText[n.Lo:n.Hi]...), '*')
	}
	b.NameText = append(b.NameText, b.NameText[last.Lo:last.Hi]...)
	hi := uint32(len(b.NameText))
	b.Names = append(b.Names, Name{Lo: lo, Hi: hi, LeafLo: lo, LeafHi: hi})
}

// copyName copies the text of the name of src.Features[i] to b, and returns
// where it lies there.
func (b *Batch) copyName(src *Batch, i int) Name {
	n := src.Names[i]
	moved := uint32(len(b.NameText)) - n.Lo // may wrap, and back again
	b.NameText = append(b.NameText, src.NameText[n.Lo:n.Hi]...)
	return Name{Lo: n.Lo + moved, Hi: n.Hi + moved, LeafLo: n.LeafLo + moved, LeafHi: n.LeafHi + moved}
}
