// SPDX-License-Identifier: Apache-2.0

package learn

// passLength is vw's --initial_pass_length. What it does depends on whether
// there is a cache. Without one the data is read once, and passes end in it after
// n examples, then after 2n+1 more, twice as many and one more again, and so on:
// the learning rate decays there.
// With one each pass sees the first n examples alone, and if there are as many,
// there are twice as many passes as asked for.
type passLength struct {
	length int // of the pass under way
	end    int // examples before its end; 0: it ends with the data
}

func newPassLength(c *Config) passLength {
	if c.Data.Cache != "" {
		return passLength{}
	}
	return passLength{c.Data.PassLength, c.Data.PassLength}
}

// ends reports whether a pass has ended before the n-th example of the data.
func (p *passLength) ends(n int) bool {
	if p.end == 0 || n <= p.end {
		return false
	}
	p.length = 2*p.length + 1
	p.end += p.length
	return true
}

// perPass is how many examples a pass has at most; 0: all.
func (c *Config) perPass() int {
	if c.Data.PassLength == 0 || c.Data.Cache == "" {
		return c.Data.Examples
	}
	if c.Data.Examples == 0 {
		return c.Data.PassLength
	}
	return min(c.Data.Examples, c.Data.PassLength)
}

// doubles reports whether there are twice as many passes as asked for, over data
// of so many examples.
func (c *Config) doubles(examples int) bool {
	return c.Data.PassLength > 0 && c.Data.Cache != "" && examples >= c.Data.PassLength
}
