// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// SetFields sets fields of the struct that to points to. An option that was given sets the
// fields in its Sets whose paths begin with prefix; the rest of the path is the field's path in
// the struct. Other fields keep their values.
func SetFields(c *Context, specs []*Spec, prefix string, to any) error {
	root := reflect.ValueOf(to).Elem()
	for _, s := range specs {
		if s.Sets == "" || !c.IsSet(s.Name) {
			continue
		}
		for path := range strings.SplitSeq(s.Sets, ",") {
			path, ok := strings.CutPrefix(path, prefix)
			if !ok {
				continue
			}
			if err := s.setField(fieldAt(root, path), c); err != nil {
				return Usagef("--%s: %w", s.Name, err)
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

// setField sets a field to the option's value. If several flags set one field, the first in
// the table counts, as in vw.
func (s *Spec) setField(field reflect.Value, c *Context) error {
	if s.Kind == Boolean && field.Kind() != reflect.Bool && !field.IsZero() {
		return nil
	}
	value := s.typed(c)
	if s.Read != nil {
		var err error
		if value, err = s.Read(s.WordsOf(c)); err != nil {
			return err
		}
	}
	if words, ok := value.([]string); ok && field.Kind() == reflect.String {
		value = words[0]
	}
	if field.Kind() == reflect.Struct { // an option.Option
		fieldAt(field, "Set").SetBool(true)
		field = fieldAt(field, "Value")
	}
	field.Set(reflect.ValueOf(value).Convert(field.Type()))
	return nil
}

// typed returns the value of a given option. Floats are float32, as in vw, so that a value
// such as 0.1 has vw's bits.
func (s *Spec) typed(c *Context) any {
	switch s.Kind {
	case Boolean:
		return true
	case Integer:
		return c.Uint64(s.Name)
	case Float:
		return float32(c.Float64(s.Name))
	case Duration:
		return c.Duration(s.Name)
	case List:
		return c.StringSlice(s.Name)
	}
	if s.Repeat {
		return c.StringSlice(s.Name)
	}
	return c.String(s.Name)
}

// WordsOf returns the words of a given option for its Read. For a flag this is its name, by
// which several flags select a value of one field.
func (s *Spec) WordsOf(c *Context) []string {
	switch v := s.typed(c).(type) {
	case bool:
		return []string{s.Name}
	case []string:
		return v
	case float32:
		return []string{strconv.FormatFloat(float64(v), 'g', -1, 32)}
	default:
		return []string{fmt.Sprint(v)}
	}
}
