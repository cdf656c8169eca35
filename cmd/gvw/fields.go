// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/internal/cli"
)

// setFields sets the fields of a struct that the given options name in their sets. The
// names of these fields begin with prefix; other fields are left alone.
func setFields(c *cli.Context, specs []*spec, prefix string, to any) error {
	given := c.LocalFlagNames()
	root := reflect.ValueOf(to).Elem()
	for _, s := range specs {
		if s.sets == "" || !slices.Contains(given, s.name) {
			continue
		}
		for path := range strings.SplitSeq(s.sets, ",") {
			path, ok := strings.CutPrefix(path, prefix)
			if !ok {
				continue
			}
			if err := s.setField(fieldAt(root, path), c); err != nil {
				return cli.Usagef("--%s: %w", s.name, err)
			}
		}
	}
	return nil
}

// fieldAt returns the field of a struct by its path, such as Reg.L2. It panics if there
// is none.
func fieldAt(v reflect.Value, path string) reflect.Value {
	for name := range strings.SplitSeq(path, ".") {
		field := v.FieldByName(name)
		if !field.IsValid() {
			panic(fmt.Sprintf("BUG: %v has no field %s", v.Type(), name))
		}
		v = field
	}
	return v
}

// setField sets a field to the option's value. Of several flags for one field the
// first counts, as in vw.
func (s *spec) setField(field reflect.Value, c *cli.Context) error {
	if s.kind == boolean && field.Kind() != reflect.Bool && !field.IsZero() {
		return nil
	}
	value := s.typed(c)
	if s.read != nil {
		var err error
		if value, err = s.read(s.wordsOf(c)); err != nil {
			return err
		}
	}
	if words, ok := value.([]string); ok && field.Kind() == reflect.String {
		value = words[0]
	}
	if field.Kind() == reflect.Struct { // a learn.Option
		fieldAt(field, "Set").SetBool(true)
		field = fieldAt(field, "Value")
	}
	field.Set(reflect.ValueOf(value).Convert(field.Type()))
	return nil
}

// typed returns the value of a given option. Numbers are float32, as in vw.
func (s *spec) typed(c *cli.Context) any {
	switch s.kind {
	case boolean:
		return true
	case integer:
		return c.Uint64(s.name)
	case float:
		return float32(c.Float64(s.name))
	case duration:
		return c.Duration(s.name)
	case list:
		return c.StringSlice(s.name)
	}
	if s.repeat {
		return c.StringSlice(s.name)
	}
	return c.String(s.name)
}

// wordsOf returns the value of a given option in words, that of a flag as its name.
func (s *spec) wordsOf(c *cli.Context) []string {
	switch v := s.typed(c).(type) {
	case bool:
		return []string{s.name}
	case []string:
		return v
	case float32:
		return []string{strconv.FormatFloat(float64(v), 'g', -1, 32)}
	default:
		return []string{fmt.Sprint(v)}
	}
}
