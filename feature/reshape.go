// SPDX-License-Identifier: Apache-2.0

package feature

import "math"

// gram is the factor of vw's n-grams and affixes.
const gram = 27942141

// reshape sorts features, drops ignored namespaces, adds n-grams and limits the number
// of features, in vw's order, and lays the features out again.
func (b *Builder) reshape(dst *Batch) *LimitError {
	ex := &b.ex
	b.setAside(dst)
	dst.Features = dst.Features[:ex.FeatLo]
	if b.named {
		dst.Names = dst.Names[:ex.FeatLo]
	}
	b.whole = b.whole[:0]
	spans := dst.Spans[ex.SpanLo:]
	kept := 0
	for _, s := range spans {
		if b.shape.ignore[s.NS] {
			continue
		}
		lo := len(dst.Features)
		dst.Features = append(dst.Features, b.old[s.Lo-ex.FeatLo:s.Hi-ex.FeatLo]...)
		if b.named {
			dst.Names = append(dst.Names, b.oldNames[s.Lo-ex.FeatLo:s.Hi-ex.FeatLo]...)
		}
		if b.limits {
			b.whole = append(b.whole, b.oldWhole[s.Lo-ex.FeatLo:s.Hi-ex.FeatLo]...)
		}
		over := float32(0)
		if b.shape.sorts {
			over = b.limit(dst, lo, math.MaxInt, int(ex.FeatLo))
		}
		length := len(dst.Features) - lo
		for n := 1; n < int(b.shape.grams[s.NS]); n++ {
			b.offsets = append(b.offsets[:0], 0)
			if err := b.addGrams(dst, lo, length, n, int(b.shape.skips[s.NS]), 0, int(ex.FeatLo)); err != nil {
				return err
			}
		}
		if limit := b.shape.limit[s.NS]; limit == 0 {
			over = b.limit(dst, lo, 0, int(ex.FeatLo))
		} else if uint64(len(dst.Features)-lo) > uint64(limit) {
			over += b.limit(dst, lo, int(limit), int(ex.FeatLo))
		}
		if len(dst.Features) > lo {
			spans[kept] = Span{NS: s.NS, Lo: uint32(lo), Hi: uint32(len(dst.Features)), Over: over}
			ex.HiddenSquares += over
			kept++
		}
	}
	dst.Spans = dst.Spans[:int(ex.SpanLo)+kept]
	return nil
}

// addGrams appends the n-grams of the features from lo on with n more members
// and up to skips skipped features in all, in vw's order: first those that
// skip nothing. skipped are those before the next member.
func (b *Builder) addGrams(dst *Batch, lo, length, n, skips, skipped, base int) *LimitError {
	last := b.offsets[len(b.offsets)-1]
	if n == 0 {
		count := length - last
		if total := len(dst.Features) + count - base; total > MaxFeatures {
			return &LimitError{Features: uint64(total)}
		}
		for i := lo; i < lo+count; i++ {
			index := dst.Features[i].Index
			for _, k := range b.offsets[1:] {
				index = index*gram + dst.Features[i+k].Index
			}
			dst.Features = append(dst.Features, Feature{Index: index & b.mask, Value: 1})
			if b.limits {
				number := b.whole[i-base]
				for _, k := range b.offsets[1:] {
					number = number*gram + b.whole[i-base+k]
				}
				b.whole = append(b.whole, number)
			}
			if b.named {
				dst.appendGramName(i, b.offsets[1:])
			}
		}
		return nil
	}
	next := last + 1 + skipped
	if next+n-1 >= length {
		return nil // longer than the namespace, as are all that skip more
	}
	b.offsets = append(b.offsets, next)
	err := b.addGrams(dst, lo, length, n-1, skips, 0, base)
	b.offsets = b.offsets[:len(b.offsets)-1]
	if err != nil || skips == 0 {
		return err
	}
	return b.addGrams(dst, lo, length, n, skips-1, skipped+1, base)
}
