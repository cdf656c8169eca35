// SPDX-License-Identifier: Apache-2.0

package csv

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/feature"
)

// table is a parsed header: the meaning of each column.
type table struct {
	width      int // cells of a row
	label, tag int // columns; -1: none
	spaces     []space
}

// space is a namespace and its columns.
type space struct {
	name    string
	ns      feature.Namespace
	factor  float32
	columns []column
}

// column is a column of features.
type column struct {
	at   int
	name []byte
	hash uint32 // of the name, seeded with the namespace's

	elements []element // names of the values of cells with several numbers, as far as they have occurred
}

// newTable reads a header. Of several labels or tags the first one counts, as in
// vw. label is the name or the number of the column with the labels; "": _label. The
// hashes are still to come.
func newTable(line []byte, separator byte, quotes bool, label string) (*table, error) {
	var s splitter
	cells, err := s.split(line, separator, quotes)
	if err != nil {
		return nil, err
	}
	t := &table{width: len(cells), label: -1, tag: -1}
	for i := range cells {
		c := &cells[i]
		if k := len(c.text); !c.quoted && k > 1 && c.text[0] == '"' && c.text[k-1] == '"' {
			c.text = c.text[1 : k-1] // where quotes mean nothing else
		}
	}
	if label != "" {
		if t.label, err = find(cells, label); err != nil {
			return nil, err
		}
	}
	for i, c := range cells {
		name := c.text
		switch string(name) {
		case "_label":
			if t.label < 0 {
				t.label = i
			}
			if label == "" || t.label == i {
				continue
			}
		case "_tag":
			if t.tag < 0 {
				t.tag = i
			}
			continue
		}
		if t.label == i {
			continue
		}
		ns, rest, barred := bytes.Cut(trim(name), []byte{'|'})
		if bytes.IndexByte(rest, '|') >= 0 {
			return nil, fmt.Errorf("column %d of the header is %q: want a name, or a namespace and a name with one bar between them", i+1, clip(name))
		}
		if !barred {
			ns, rest = nil, name
		}
		sp := t.space(string(ns))
		sp.columns = append(sp.columns, column{at: i, name: bytes.Clone(rest)})
	}
	return t, nil
}

// find returns the column of a name, or else of a number from 1.
func find(cells []cell, label string) (int, error) {
	var names []string
	for i, c := range cells {
		name := string(trim(c.text))
		if name == label {
			return i, nil
		}
		names = append(names, name)
	}
	if n, err := strconv.Atoi(label); err == nil && n >= 1 && n <= len(cells) {
		return n - 1, nil
	}
	const most = 20
	more := ""
	if len(names) > most {
		more = fmt.Sprintf(" and %d more", len(names)-most)
		names = names[:most]
	}
	return 0, fmt.Errorf("csv.Config.Label=%s: no column has this name or number: there are %s%s", label, strings.Join(names, ", "), more)
}

// space returns the namespace of that name.
func (t *table) space(name string) *space {
	for i := range t.spaces {
		if t.spaces[i].name == name {
			return &t.spaces[i]
		}
	}
	t.spaces = append(t.spaces, space{name: name, factor: 1})
	return &t.spaces[len(t.spaces)-1]
}

// hash computes the hashes of all names.
func (t *table) hash(b *feature.Builder) {
	for i := range t.spaces {
		s := &t.spaces[i]
		s.ns = b.Default()
		if s.name != "" {
			s.ns = b.Namespace([]byte(s.name))
		}
		for k := range s.columns {
			c := &s.columns[k]
			c.hash = b.Hash(c.name, s.ns.Salt)
		}
	}
}

// scale sets the factors, and returns those of namespaces that are not there.
func (t *table) scale(factors []factor) (absent []string) {
	for _, f := range factors {
		found := false
		for i := range t.spaces {
			if t.spaces[i].name == f.namespace {
				t.spaces[i].factor, found = f.value, true
			}
		}
		if !found {
			absent = append(absent, f.namespace)
		}
	}
	return absent
}
