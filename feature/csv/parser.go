// SPDX-License-Identifier: Apache-2.0

package csv

import (
	"errors"
	"fmt"

	"github.com/gvw-project/gvw/feature"
)

// Parser turns rows into examples. Not for use by more than one goroutine at a
// time.
type Parser struct {
	b         *feature.Builder
	separator byte
	label     string // the column of the labels; "": _label
	factors   []factor
	many      bool // Config.Several
	fixed     bool // the table is Config.Header's, and headers of files are ignored
	table     *table
	splitter  splitter
}

// NewParser makes a parser. If files have headers, Header must be called with the first
// one before the first row.
func NewParser(cfg feature.Config, opts Config) (*Parser, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	b, err := feature.NewBuilder(cfg)
	if err != nil {
		return nil, err
	}
	p := &Parser{b: b, label: opts.Label, many: opts.Several}
	if p.separator, err = opts.separator(); err != nil {
		return nil, err
	}
	if p.factors, err = opts.factors(); err != nil {
		return nil, err
	}
	if opts.Header == "" {
		return p, nil
	}
	t, err := newTable([]byte(opts.Header), ',', false, opts.Label)
	if err != nil {
		return nil, err
	}
	p.fixed = true
	p.use(t)
	return p, nil
}

// use makes t the current table.
func (p *Parser) use(t *table) (absent []string) {
	t.hash(p.b)
	p.table = t
	return t.scale(p.factors)
}

// Header parses the first line of the file of the following rows. dst gets the
// warnings.
func (p *Parser) Header(dst *feature.Batch, line []byte) error {
	line = feature.TrimLine(line)
	if len(line) == 0 {
		return errors.New("the header is empty: name the columns in the first line, or by csv.Config.Header")
	}
	if p.fixed {
		cells, err := p.splitter.split(line, p.separator, true)
		if err != nil {
			return err
		}
		return p.width(len(cells))
	}
	t, err := newTable(line, p.separator, true, p.label)
	if err != nil {
		return err
	}
	absent := p.use(t)
	warn := func(text string) {
		dst.Warnings = append(dst.Warnings, feature.Warning{Line: 1, Text: text})
	}
	if t.label < 0 {
		warn("no '_label' column in the header: the examples have no labels (csv.Config.Label=COLUMN names another)")
	}
	for _, name := range absent {
		warn("csv.Config.NamespaceValues: the header has no namespace \"" + name + "\"")
	}
	return nil
}

// AppendLine adds the example of one row to dst; a row of empty cells adds none. The line may
// end in a line feed, a carriage return or both. n is its number. On error dst is unchanged.
func (p *Parser) AppendLine(dst *feature.Batch, line []byte, n int64) error {
	if p.table == nil {
		panic("BUG: csv: row before a header")
	}
	line = feature.TrimLine(line)
	if len(line) == 0 {
		return &feature.MalformedError{Line: n, Text: "the line is empty: CSV has no empty lines"}
	}
	cells, err := p.splitter.split(line, p.separator, true)
	if err == nil {
		err = p.width(len(cells))
	}
	if err != nil {
		if m, ok := errors.AsType[*feature.MalformedError](err); ok {
			m.Line = n
		}
		return err
	}
	if p.empty(cells) {
		return nil
	}
	if k := p.table.label; p.many && k >= 0 && len(cells[k].text) > 0 && cells[k].text[0] == Mark {
		return &feature.MalformedError{Line: n, Text: "the label is a list or a map: want one value in a row"}
	}
	p.b.Begin(dst, n)
	if k := p.table.label; k >= 0 {
		p.b.Label(cells[k].text)
	}
	if k := p.table.tag; k >= 0 {
		tag := cells[k].text
		if len(tag) > 0 && tag[0] == '\'' {
			tag = tag[1:]
		}
		p.b.Tag(tag)
	}
	for i := range p.table.spaces {
		p.features(dst, &p.table.spaces[i], cells)
	}
	return p.b.End()
}

// width checks the number of cells.
func (p *Parser) width(n int) error {
	if want := p.table.width; n != want {
		return &feature.MalformedError{Text: fmt.Sprintf("the line has %d cells, the header has %d", n, want)}
	}
	return nil
}

// empty reports whether no cell has a feature.
func (p *Parser) empty(cells []cell) bool {
	for i := range p.table.spaces {
		for _, c := range p.table.spaces[i].columns {
			if cells[c.at].quoted || len(cells[c.at].text) > 0 {
				return false
			}
		}
	}
	return true
}

// features adds the features of one namespace.
func (p *Parser) features(dst *feature.Batch, s *space, cells []cell) {
	p.b.Enter(s.ns)
	before := len(dst.Features)
	anonymous := s.ns.Salt
	for k := range s.columns {
		col := &s.columns[k]
		c := cells[col.at]
		if len(c.text) == 0 && !c.quoted {
			continue
		}
		if !c.quoted {
			if v, n := feature.ParseFloat(c.text); n == len(c.text) && v == v {
				if len(col.name) == 0 {
					p.b.Add(nil, anonymous, s.factor*v)
					anonymous++
				} else {
					p.b.AddNamed(col.name, nil, col.hash, s.factor*v)
				}
				continue
			}
		}
		if p.many && len(c.text) > 0 && c.text[0] == Mark {
			anonymous = p.several(s, col, c.text, anonymous)
			continue
		}
		// As in vw's text the factor does not apply.
		p.b.AddNamed(col.name, c.text, p.b.Hash(c.text, col.hash), 1)
	}
	if len(dst.Features) > before {
		p.b.List(s.ns.Byte)
	}
}
