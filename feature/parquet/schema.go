// SPDX-License-Identifier: Apache-2.0

package parquet

import (
	"fmt"
	"slices"
	"strings"
)

// Values of LogicalType and ConvertedType.
const (
	logicalMap       = 2
	logicalList      = 3
	convertedMap     = 1
	convertedEntries = 2
	convertedList    = 3
)

// schemaReader reads a schema in depth-first order.
type schemaReader struct {
	rest    []schemaElement
	leaves  int64 // so far: the number of the next chunk of a row group
	columns []column
}

// columns returns the columns of a schema, and the number of its leaves.
func columns(schema []schemaElement) ([]column, int, error) {
	s := schemaReader{rest: schema[1:]}
	for range schema[0].children {
		if err := s.column(nil, 0); err != nil {
			return nil, 0, err
		}
	}
	if len(s.rest) > 0 {
		return nil, 0, errMetadata
	}
	return s.columns, int(s.leaves), nil
}

// element returns the next element, and the definition level below it.
func (s *schemaReader) element(level uint32) (schemaElement, uint32, error) {
	if len(s.rest) == 0 {
		return schemaElement{}, 0, errMetadata
	}
	e := s.rest[0]
	s.rest = s.rest[1:]
	if e.repetition != 0 {
		level++
	}
	return e, level, nil
}

// leaf returns a column for a leaf.
func (s *schemaReader) leaf(path []string, e schemaElement, level uint32) (column, error) {
	c, err := newColumn(path, e)
	c.at, c.defined = int(s.leaves), level
	s.leaves++
	return c, err
}

// column reads the next element of the file or of a structure.
func (s *schemaReader) column(path []string, level uint32) error {
	e, level, err := s.element(level)
	if err != nil {
		return err
	}
	path = append(slices.Clone(path), e.name)
	list := e.logical == logicalList || e.converted == convertedList
	entries := e.logical == logicalMap || e.converted == convertedMap || e.converted == convertedEntries
	several := e.repetition == repeated || e.children > 0 && (list || entries)
	switch {
	case several && len(path) > 1:
		return fmt.Errorf("column %s has a list or a map in a structure: write it as a column", path[0])
	case e.repetition == repeated && e.children > 0:
		return fmt.Errorf("column %s has a list of structures: write each of their fields as a list", path[0])
	case several:
		var c column
		switch {
		case e.children == 0: // without a group for the list
			if c, err = s.leaf(path, e, level); err == nil {
				c.repeated = level
			}
		case list:
			c, err = s.list(path, e, level)
		default:
			c, err = s.entries(path, e, level)
		}
		if err == nil {
			err = named(&c)
		}
		s.columns = append(s.columns, c)
		return err
	case e.children > 0 && len(path) > 1:
		return fmt.Errorf("column %s has structures in a structure: write its fields as columns", path[0])
	case e.children > 0:
		for range e.children {
			if err := s.column(path, level); err != nil {
				return err
			}
		}
		return nil
	}
	c, err := s.leaf(path, e, level)
	s.columns = append(s.columns, c)
	return err
}

const repeated = 2 // the repetition of an element with several values

// list reads the elements of a list, with or without a group for each of them.
func (s *schemaReader) list(path []string, e schemaElement, level uint32) (column, error) {
	each, level, err := s.element(level)
	if err != nil || e.children != 1 || each.repetition != repeated {
		return column{}, errMetadata
	}
	element := level
	if each.children > 0 {
		if each.children != 1 {
			return column{}, fmt.Errorf("column %s has a list of structures: write each of their fields as a list", path[0])
		}
		if each, level, err = s.element(level); err != nil {
			return column{}, err
		}
	}
	if each.children > 0 || each.repetition == repeated && level != element {
		return column{}, fmt.Errorf("column %s has a list of lists, maps or structures: write a list of numbers or texts", path[0])
	}
	c, err := s.leaf(path, each, level)
	c.repeated = element
	return c, err
}

// entries reads the keys and the values of a map.
func (s *schemaReader) entries(path []string, e schemaElement, level uint32) (column, error) {
	each, element, err := s.element(level)
	if err != nil || e.children != 1 || each.repetition != repeated {
		return column{}, errMetadata
	}
	if each.children != 2 {
		return column{}, fmt.Errorf("column %s is a map without values: write a list of its keys", path[0])
	}
	var both [2]column
	for i := range both {
		part, level, err := s.element(element)
		if err != nil {
			return column{}, err
		}
		if part.children > 0 || part.repetition == repeated {
			return column{}, fmt.Errorf("column %s has a map of lists, maps or structures: write a map of texts to numbers or texts", path[0])
		}
		if both[i], err = s.leaf(path, part, level); err != nil {
			return column{}, err
		}
		both[i].repeated = element
	}
	if k := both[0].physical; k != typeBytes && k != typeInt32 && k != typeInt64 {
		return column{}, fmt.Errorf("column %s has a map whose keys are neither texts nor whole numbers: convert them to texts", path[0])
	}
	both[0].value = &both[1]
	return both[0], nil
}

// named checks the name of a column with several values, and makes that of a map one of a namespace.
func named(c *column) error {
	switch {
	case c.name == "_label" || c.name == "_tag" || c.name == "_weight":
		return fmt.Errorf("column %s has a list or a map: want one value in a row", c.name)
	case c.value == nil || strings.HasSuffix(c.name, "|"):
		return nil
	case strings.Contains(c.name, "|"):
		return fmt.Errorf("column %s is a map, whose keys are the names of features: name it after its namespace only, as %s", c.name, c.name[:strings.Index(c.name, "|")])
	}
	c.name += "|"
	return nil
}

func newColumn(path []string, e schemaElement) (column, error) {
	c := column{name: path[0], physical: e.physical, scale: -1}
	if len(path) > 1 {
		c.name += "|" + path[1]
	}
	if e.logical == 5 || e.converted == 5 {
		c.scale = e.scale
	}
	c.unsigned = e.converted >= 11 && e.converted <= 14
	switch {
	case e.physical >= typeBool && e.physical <= typeInt64, e.physical == typeFloat, e.physical == typeDbl:
		return c, nil
	case e.physical == typeBytes && c.scale < 0:
		return c, nil
	}
	what := map[int64]string{typeInt96: "INT96", typeBytes: "DECIMAL of bytes", typeFixed: "FIXED_LEN_BYTE_ARRAY"}[e.physical]
	return c, fmt.Errorf("column %s has the type %s: numbers, booleans and texts are read: convert it or leave it out", c.name, what)
}
