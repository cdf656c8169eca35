// SPDX-License-Identifier: Apache-2.0

package examples

// PassLength is vw's --initial_pass_length. Its meaning depends on the cache.
//
// Without a cache the data is read once. Passes end within it after n examples, then after 2n+1
// more, and each later pass has twice as many plus one. The learning rate decays at each end.
//
// With a cache each pass has only the first n examples. If the data has at least n, there are
// twice as many passes as the user asked for.
type PassLength struct {
	N      int  // length of the first pass, in examples; 0: passes end with the data
	Cached bool // there is a cache
}

// Limit returns the maximum number of examples of a pass; 0 means all. examples is the limit of
// --examples, in the same form.
func (p PassLength) Limit(examples int) int {
	if p.N == 0 || !p.Cached {
		return examples
	}
	if examples == 0 {
		return p.N
	}
	return min(examples, p.N)
}

// Doubles reports whether the number of passes doubles, given the number of examples in the
// data.
func (p PassLength) Doubles(examples int) bool { return p.N > 0 && p.Cached && examples >= p.N }

// Ends returns the ends of passes within the data.
func (p PassLength) Ends() passEnds {
	if p.Cached {
		return passEnds{}
	}
	return passEnds{p.N, p.N}
}

// passEnds are the ends of passes within one reading of the data.
type passEnds struct {
	length int // of the current pass, in examples
	end    int // examples before its end; 0: it ends with the data
}

// Before reports whether a pass has ended before the n-th example of the data.
func (p *passEnds) Before(n int) bool {
	if p.end == 0 || n <= p.end {
		return false
	}
	p.length = 2*p.length + 1
	p.end += p.length
	return true
}
