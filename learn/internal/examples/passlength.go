// SPDX-License-Identifier: Apache-2.0

package examples

// PassLength is vw's --initial_pass_length. What it does depends on whether
// there is a cache. Without one the data is read once, and passes end in it after
// n examples, then after 2n+1 more, twice as many and one more again, and so on:
// the learning rate decays there.
// With one each pass sees the first n examples alone, and if there are as many,
// there are twice as many passes as asked for.
type PassLength struct {
	N      int  // examples; 0: passes end with the data
	Cached bool // there is a cache
}

// Limit returns the number of examples that a pass has at most. examples is the limit of
// --examples. In both 0 means all.
func (p PassLength) Limit(examples int) int {
	if p.N == 0 || !p.Cached {
		return examples
	}
	if examples == 0 {
		return p.N
	}
	return min(examples, p.N)
}

// Doubles reports whether there are twice as many passes as asked for, over data
// of so many examples.
func (p PassLength) Doubles(examples int) bool { return p.N > 0 && p.Cached && examples >= p.N }

// Ends returns where passes end within the data.
func (p PassLength) Ends() passEnds {
	if p.Cached {
		return passEnds{}
	}
	return passEnds{p.N, p.N}
}

// passEnds are the ends of passes within one reading of the data.
type passEnds struct {
	length int // of the pass under way
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
