// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/model"
)

// Feature is the information about one name.
type Feature struct {
	Name     string
	Index    uint32
	Count    uint64  // number of examples with the feature; 0: only the name is known
	Min, Max float32 // range of its values in these examples
}

// Names maps weights to the names of their features.
type Names struct {
	byName map[string]*Feature
	shared map[uint32][]*Feature // by number of the weight, in order of appearance
	seen   bool                  // counts and values are known

	weights int    // of a feature
	shift   int    // log2 of the distance between the first weights of two features
	mask    uint32 // of the number of a weight
	name    []byte // scratch: name of the current weight
}

// NewNames returns an empty Names.
func NewNames() *Names {
	return &Names{byName: map[string]*Feature{}, shared: map[uint32][]*Feature{}, weights: 1, mask: 1<<32 - 1}
}

// Of sets the number of weights per feature of the model. See needs it for models with several,
// such as one for each class of --oaa. Weight c of feature x, from 0, is called x[c], and the first
// one x, as in --invert_hash.
func (n *Names) Of(h *model.Header, weights int) {
	n.weights = weights
	n.shift = bits.Len(uint(n.weights - 1))
	n.mask = uint32(1<<h.Bits - 1)
}

// Known reports whether any name is known.
func (n *Names) Known() bool { return len(n.byName) > 0 }

// Note records the name of a weight.
func (n *Names) Note(index uint32, name string) { n.feature(index, []byte(name)) }

func (n *Names) feature(index uint32, name []byte) *Feature {
	f := n.byName[string(name)]
	if f == nil {
		f = &Feature{Name: string(name), Index: index}
		n.byName[f.Name] = f
		n.shared[index] = append(n.shared[index], f)
	}
	return f
}

// See counts the features of a batch, which must have names.
func (n *Names) See(b *feature.Batch) {
	n.seen = true
	for i := range b.Examples {
		ex := &b.Examples[i]
		for k := ex.FeatLo; k < ex.FeatHi; k++ {
			x := b.Features[k]
			n.see(x.Index<<n.shift&n.mask, b.NameOf(int(k)), x.Value)
			for c := 1; c < n.weights; c++ {
				n.name = fmt.Appendf(n.name[:0], "%s[%d]", b.NameOf(int(k)), c)
				n.see((x.Index<<n.shift+uint32(c))&n.mask, n.name, x.Value)
			}
		}
	}
}

// see counts one value of a feature.
func (n *Names) see(index uint32, name []byte, value float32) {
	f := n.feature(index, name)
	if f.Count == 0 {
		f.Min, f.Max = value, value
	}
	f.Count++
	f.Min, f.Max = min(f.Min, value), max(f.Max, value)
}

// of returns the names of a weight.
func (n *Names) of(index uint32) []*Feature {
	if n == nil {
		return nil
	}
	return n.shared[index]
}

// all returns every feature, by weight and then by name.
func (n *Names) all() []*Feature {
	var all []*Feature
	for _, f := range n.byName {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b *Feature) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), strings.Compare(a.Name, b.Name))
	})
	return all
}

// namespaces returns the names of a feature's namespaces: a^x*b^y belongs to a*b, a name
// without namespace to the default one, the constant to itself. All weights of a
// feature count.
func (n *Names) namespaces(name string) string {
	if i := strings.LastIndexByte(name, '['); n.weights > 1 && i > 0 && strings.HasSuffix(name, "]") {
		if _, err := strconv.ParseUint(name[i+1:len(name)-1], 10, 32); err == nil {
			name = name[:i]
		}
	}
	if name == "Constant" {
		return name
	}
	var spaces []string
	for part := range strings.SplitSeq(name, "*") {
		space, _, found := strings.Cut(part, "^")
		if !found {
			space = "(default)"
		}
		spaces = append(spaces, space)
	}
	return strings.Join(spaces, "*")
}
