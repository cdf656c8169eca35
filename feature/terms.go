// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"bytes"
	"cmp"
	"slices"
)

const (
	wildcard = ':'
	maxOrder = 32      // namespaces in one interaction
	maxTerms = 1 << 20 // interactions that wildcards may become
)

// terms turns the options on interactions into lists of namespaces, in vw's
// order: short ones first, then by their bytes.
type terms struct {
	given [][]byte // as requested, in order, without duplicates
	wild  bool     // some have wildcards
	leave bool     // keep duplicates

	// made holds what wildcards become in an example, by the set of its
	// namespaces: there are few different ones, so this is done once for each.
	made  map[[4]uint64][][]byte
	total int // in made
}

func newTerms(cfg *Config) terms {
	t := terms{leave: cfg.LeaveDuplicates, made: make(map[[4]uint64][][]byte)}
	for _, s := range cfg.Interactions {
		term := []byte(Unescape(s))
		t.given = append(t.given, term)
		t.wild = t.wild || bytes.IndexByte(term, wildcard) >= 0
	}
	t.given = tidy(t.given, t.leave)
	return t
}

// Terms returns Interactions as examples get them: each as the first bytes of its namespaces, without escapes, in vw's
// order, which is that of their lengths, then of their bytes. Of sets with the same namespaces the first one is kept,
// unless LeaveDuplicates is set. Wildcards stay.
func (c *Config) Terms() []string {
	given := newTerms(c).given
	all := make([]string, len(given))
	for i, term := range given {
		all[i] = string(term)
	}
	return all
}

// inter reports whether wildcards stand for the namespace.
func inter(ns byte) bool { return ns >= ' ' && ns <= '~' }

// of returns the interactions in an example with these namespaces; some of them
// may name namespaces that it has not. More than maxTerms are a *LimitError.
func (t *terms) of(spans []Span) ([][]byte, *LimitError) {
	if !t.wild {
		return t.given, nil
	}
	var set [4]uint64
	for _, s := range spans {
		if inter(s.NS) {
			set[s.NS>>6] |= 1 << (s.NS & 63)
		}
	}
	if made, ok := t.made[set]; ok {
		return made, nil
	}
	var names []byte
	for ns := range 256 {
		if set[ns>>6]>>(ns&63)&1 != 0 {
			names = append(names, byte(ns))
		}
	}
	var all [][]byte
	for _, term := range t.given {
		w := bytes.Count(term, []byte{wildcard})
		if w == 0 {
			all = append(all, term)
			continue
		}
		if n := t.count(len(names), w); n > maxTerms {
			return nil, &LimitError{Features: n}
		}
		for _, fill := range t.fills(names, w) {
			whole := make([]byte, 0, len(term))
			for _, ns := range term {
				if ns == wildcard {
					ns, fill = fill[0], fill[1:]
				}
				whole = append(whole, ns)
			}
			all = append(all, whole)
		}
		if len(all) > maxTerms {
			return nil, &LimitError{Features: uint64(len(all))}
		}
	}
	all = tidy(all, t.leave)
	if t.total += len(all); t.total > maxTerms {
		clear(t.made)
		t.total = len(all)
	}
	t.made[set] = all
	return all, nil
}

// count returns the number of fills, or a number above maxTerms.
func (t *terms) count(names, w int) uint64 {
	n := uint64(1)
	for i := range w {
		if t.leave {
			n *= uint64(names)
		} else {
			n = n * uint64(names+i) / uint64(i+1)
		}
		if n > maxTerms {
			return n
		}
	}
	return n
}

// fills returns the sets of namespaces that w wildcards stand for. Each set occurs once, unless
// duplicates are kept: in ascending order for two namespaces, else in descending order, as in
// vw. The order affects the hash.
func (t *terms) fills(names []byte, w int) [][]byte {
	var all [][]byte
	fill := make([]byte, w)
	var add func(at, from int)
	add = func(at, from int) {
		if at == w {
			f := slices.Clone(fill)
			if w != 2 && !t.leave {
				slices.Reverse(f)
			}
			all = append(all, f)
			return
		}
		for i := from; i < len(names); i++ {
			fill[at] = names[i]
			next := i
			if t.leave {
				next = 0
			}
			add(at+1, next)
		}
	}
	add(0, 0)
	return all
}

// tidy sorts interactions and drops those with the same namespaces as one before
// them, unless doubles are kept. One in which a namespace occurs twice beside
// others is sorted itself, so that equal namespaces are neighbours; that does
// not change its place.
func tidy(all [][]byte, leave bool) [][]byte {
	slices.SortFunc(all, func(a, b []byte) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), bytes.Compare(a, b))
	})
	seen := make(map[string]bool)
	tidied := make([][]byte, 0, len(all))
	for _, term := range all {
		sorted := slices.Sorted(slices.Values(term))
		if seen[string(sorted)] && !leave {
			continue
		}
		seen[string(sorted)] = true
		if distinct := len(slices.Compact(slices.Clone(sorted))); distinct > 1 && distinct < len(term) {
			term = sorted
		}
		tidied = append(tidied, term)
	}
	return tidied
}
