// SPDX-License-Identifier: Apache-2.0

package learn

// passLength is vw's --initial_pass_length. What it does depends on whether
// there is a cache. Without one the data is read once, and passes end in it after
// n examples, then after 2n+1 more, twice as many and one more again, and so on:
// the learning rate decays there.
// With one each pass sees the first n examples alone, and if there are as many,
// there are twice as many passes as asked for.
type passLength struct {
	n      int  // examples; 0: passes end with the data
	cached bool // there is a cache
}

// limit is how many examples a pass has at most, of which the first ones are asked for;
// 0: all.
func (p passLength) limit(examples int) int {
	if p.n == 0 || !p.cached {
		return examples
	}
	if examples == 0 {
		return p.n
	}
	return min(examples, p.n)
}

// doubles reports whether there are twice as many passes as asked for, over data
// of so many examples.
func (p passLength) doubles(examples int) bool { return p.n > 0 && p.cached && examples >= p.n }

// ends returns where passes end within the data.
func (p passLength) ends() passEnds {
	if p.cached {
		return passEnds{}
	}
	return passEnds{p.n, p.n}
}

// passEnds are the ends of passes within one reading of the data.
type passEnds struct {
	length int // of the pass under way
	end    int // examples before its end; 0: it ends with the data
}

// before reports whether a pass has ended before the n-th example of the data.
func (p *passEnds) before(n int) bool {
	if p.end == 0 || n <= p.end {
		return false
	}
	p.length = 2*p.length + 1
	p.end += p.length
	return true
}
