// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gvw-project/gvw/feature"
)

// Feature is what is known of one name.
type Feature struct {
	Name     string
	Index    uint32
	Count    uint64  // examples that have it; 0: known by name alone
	Min, Max float32 // its values there
}

// Names are the features that names are known of.
type Names struct {
	byName map[string]*Feature
	shared map[uint32][]*Feature // by number of the weight, in the order of their coming
	seen   bool                  // there are counts and values
}

// NewNames returns names of nothing.
func NewNames() *Names {
	return &Names{byName: map[string]*Feature{}, shared: map[uint32][]*Feature{}}
}

// Known reports whether any name is known.
func (n *Names) Known() bool { return len(n.byName) > 0 }

// Note says that a weight has a name.
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

// See takes note of the features of a batch, which must have names.
func (n *Names) See(b *feature.Batch) {
	n.seen = true
	for i := range b.Examples {
		ex := &b.Examples[i]
		for k := ex.FeatLo; k < ex.FeatHi; k++ {
			x := b.Features[k]
			f := n.feature(x.Index, b.NameOf(int(k)))
			if f.Count == 0 {
				f.Min, f.Max = x.Value, x.Value
			}
			f.Count++
			f.Min, f.Max = min(f.Min, x.Value), max(f.Max, x.Value)
		}
	}
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

// namespaces is what a feature's namespaces are called: a^x*b^y is of a*b, what
// has no namespace of the default one, the constant of itself.
func namespaces(name string) string {
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
