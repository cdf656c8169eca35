// SPDX-License-Identifier: Apache-2.0

package feature

// With --feature_limit vw sorts features by the number of their weight. It takes features as
// one if their numbers are equal before they are reduced to the size of the table. This whole
// number, of 64 bits, equals the weight's number where a feature has a name. Features without a
// name, affixes, patterns of spelling and n-grams have more digits, so two of them can share a
// weight and count as two. vw's cache has only the numbers of weights. After it only n-grams,
// which are generated again, have whole numbers.

// whole returns the number of a feature whose hash is not cut: it has no name.
func whole(hash uint32) uint64 { return uint64(hash) }

// wholeAffix returns the number of the affix with that hash.
func wholeAffix(hash uint32, code uint64) uint64 {
	return uint64(hash) * (affixFactor + (code&15)*gram)
}

// wholeFeature is a feature with all that limit moves.
type wholeFeature struct {
	Feature
	whole uint64
	name  Name
}

// limit keeps the most features with the lowest indices, of those from lo on, and
// of each whole number the one with the lowest value. base is where the example
// begins. It returns Span.Over.
//
// vw keeps the sum of a namespace's squares and takes from it what it drops,
// but what it takes is no sum of squares: it is the value of the first feature
// behind those that stay, where its loop has left off moving them, times the sum
// of all values from there on.
func (b *Builder) limit(dst *Batch, lo, most, base int) (over float32) {
	fs, numbers := dst.Features[lo:], b.whole[lo-base:]
	all := b.sorted[:0]
	for i, f := range fs {
		over += float32(f.Value * f.Value)
		w := wholeFeature{Feature: f, whole: numbers[i]}
		if b.named {
			w.name = dst.Names[lo+i]
		}
		all = append(all, w)
	}
	b.sorted = all
	introSort(all)
	for i := range all {
		fs[i] = all[i].Feature
	}
	kept := 0
	for _, f := range all {
		if kept == most {
			break
		}
		if kept > 0 && f.whole == numbers[kept-1] {
			continue
		}
		fs[kept], numbers[kept] = f.Feature, f.whole
		if b.named {
			dst.Names[lo+kept] = f.name
		}
		kept++
	}
	if most == 0 {
		over = 0
	} else if kept < len(fs) {
		taken := float32(0)
		for _, f := range fs[kept:] {
			taken += float32(f.Value * fs[kept].Value)
		}
		over -= taken
	}
	for _, f := range fs[:kept] {
		over -= float32(f.Value * f.Value)
	}
	dst.Features = dst.Features[:lo+kept]
	b.whole = b.whole[:lo+kept-base]
	if b.named {
		dst.Names = dst.Names[:lo+kept]
	}
	return over
}

// over returns the excess in vw's sum of the squares of a term's products: vw multiplies the
// sums of the namespaces, but computes the sum again for a namespace that occurs twice.
func (x *Interactor) over(term []byte, from, products []Feature) float32 {
	factor := float32(1)
	for i, ns := range term {
		s := x.spans[ns]
		if s.Over == 0 || !x.permute && (i > 0 && term[i-1] == ns || i+1 < len(term) && term[i+1] == ns) {
			continue
		}
		sum := squares(from[s.Lo:s.Hi])
		factor *= (sum + s.Over) / sum
	}
	if factor == 1 {
		return 0
	}
	return (factor - 1) * squares(products)
}

func squares(fs []Feature) (sum float32) {
	for _, f := range fs {
		sum += float32(f.Value * f.Value)
	}
	return sum
}
