// SPDX-License-Identifier: Apache-2.0

package parquet

import (
	"errors"
	"fmt"

	"github.com/gvw-project/gvw/feature/csv"
)

// maxValues is the number of values of a list or a map in a row.
const maxValues = 1 << 20

var (
	errTooMany = fmt.Errorf("a row has more than %d values", maxValues)
	errEntries = errors.New("the keys and the values of a map do not match: the file is damaged")
)

// several returns the list or the map of the next row as a cell of csv.Config.Several. One without values is an empty
// cell.
func (c *cells) several() ([]byte, error) {
	kind := byte(csv.Words)
	switch {
	case c.items != nil:
		kind = csv.Entries
	case c.col.physical != typeBytes:
		kind = csv.Numbers
	}
	c.joined = append(c.joined[:0], '"', csv.Mark, kind)
	found := false
	for n := 0; ; n++ {
		more, err := c.more(n == 0)
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		if n == maxValues {
			return nil, errTooMany
		}
		cell, there, err := c.entry()
		if err != nil {
			return nil, err
		}
		switch {
		case c.items != nil:
			var value []byte
			if value, err = c.items.of(n, there); err != nil {
				return nil, err
			}
			if len(value) == 0 {
				continue
			}
			c.joined = append(append(c.joined, csv.Mark), bare(cell)...)
			c.joined = append(c.joined, csv.Mark)
			if value[0] == '"' {
				c.joined = append(c.joined, csv.Word)
			}
			c.joined = append(c.joined, bare(value)...)
		case kind == csv.Words && len(cell) == 0 || !there:
			continue
		default:
			c.joined = append(append(c.joined, csv.Mark), bare(cell)...)
		}
		found = found || len(cell) > 0 || c.items != nil
		if len(c.joined) > maxPage {
			return nil, errTooLong
		}
	}
	if c.items != nil {
		if more, err := c.items.more(false); err != nil || more {
			return nil, errors.Join(err, errEntries)
		}
	}
	if !found {
		return nil, nil
	}
	c.joined = append(c.joined, '"')
	return c.joined, nil
}

// of returns the value of the n-th key in the row of a map; there: the map has such a key.
func (c *cells) of(n int, there bool) ([]byte, error) {
	more, err := c.more(n == 0)
	if err != nil {
		return nil, err
	}
	if !more {
		return nil, errEntries
	}
	cell, also, err := c.entry()
	if err == nil && there != also {
		err = errEntries
	}
	return cell, err
}

// more reports whether the row has another value; first: none has been read, and there must be one, even if it only
// means that the row has none.
func (c *cells) more(first bool) (bool, error) {
	for c.values == 0 {
		if len(c.rest) == 0 && !first {
			return false, nil
		}
		if err := c.page(); err != nil {
			return false, err
		}
	}
	if !c.peeked {
		var err error
		if c.start, err = c.starts.next(); err != nil {
			return false, err
		}
		c.peeked = true
	}
	if first && c.start != 0 {
		return false, errors.New("a row begins with the rest of a list: the file is damaged")
	}
	return first || c.start != 0, nil
}

// entry returns the next value, after more. there reports whether the list or map has this element; a null is an empty
// cell.
func (c *cells) entry() (cell []byte, there bool, err error) {
	c.values--
	c.peeked = false
	level, err := c.level()
	if err != nil || level < c.col.repeated {
		return nil, false, err
	}
	if level == c.col.defined {
		cell, err = c.cell()
	}
	return cell, true, err
}

// bare returns a cell without its outer quotes.
func bare(cell []byte) []byte {
	if len(cell) > 1 && cell[0] == '"' {
		return cell[1 : len(cell)-1]
	}
	return cell
}
