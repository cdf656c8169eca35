// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"slices"
	"strings"
	"sync"
)

// Class determines how gvw treats an option.
type Class uint8

const (
	Works   Class = iota // as in vw, except for the remark
	Silent               // accepted without a note: nothing is lost
	Noted                // accepted with a note on stderr: the user may have forgotten something
	Later                // refused until gvw supports it
	Refused              // refused for good; the remark is what to do instead
)

func (c Class) String() string {
	return [...]string{"works", "silent", "note", "later", "refused"}[c]
}

// Values is the number of values that an option takes.
type Values uint8

const (
	None Values = iota // a flag
	One
	Many // all words up to the next option
)

// Option is an option of vw.
type Option struct {
	Name   string // long, with underscores
	Short  string // one letter; empty: none
	Values Values
	Group  string // section of vw's help; Driver: an option of vw's program, not of its library
	Class  Class
	Remark string // what differs, or what to do instead; may be empty
}

// Accepted reports whether gvw accepts the option without an effect.
func (o Option) Accepted() bool { return o.Class == Silent || o.Class == Noted }

// group is a section of vw's help.
type group struct {
	name string
	rows []row
}

// row is an option as the tables have it. The spelling is the name, after the
// letter and a comma if it has one, before = if it takes a value and * if it
// takes several.
type row struct {
	spelling string
	class    Class
	remark   string
}

// refused returns rows of one class and remark.
func refused(remark, spellings string) []row { return rows(Refused, remark, spellings) }

// learner returns the rows of a reduction that gvw lacks. Without the options that
// enable it, vw ignores its parameters.
func learner(remark, enabling, parameters string) []row {
	return append(refused(remark, enabling), rows(Noted, notEnabled, parameters)...)
}

// notEnabled is the remark on a parameter of a learner that gvw lacks.
const notEnabled = "ignored, as in vw: no learner that takes it is enabled"

// rows returns a row for each of the spellings, which are separated by blanks.
func rows(class Class, remark, spellings string) []row {
	var rows []row
	for s := range strings.FieldsSeq(spellings) {
		rows = append(rows, row{s, class, remark})
	}
	return rows
}

// options returns the whole list, in the order of the tables. It is made at first use, since
// few command lines need it.
var options = sync.OnceValue(func() []Option {
	var all []Option
	for _, g := range slices.Concat(general, learners, others(), driver) {
		for _, r := range g.rows {
			o := Option{Name: r.spelling, Group: g.name, Class: r.class, Remark: r.remark}
			if short, name, found := strings.Cut(o.Name, ","); found {
				o.Short, o.Name = short, name
			}
			switch o.Name[len(o.Name)-1] {
			case '=':
				o.Values, o.Name = One, o.Name[:len(o.Name)-1]
			case '*':
				o.Values, o.Name = Many, o.Name[:len(o.Name)-1]
			}
			all = append(all, o)
		}
	}
	return all
})

// All returns every option, in vw's order within the general ones and the
// learners.
func All() []Option { return slices.Clone(options()) }

// Find returns the option of a long name.
func Find(name string) (Option, bool) {
	return find(func(o Option) bool { return o.Name == name })
}

// FindShort returns the option of a letter.
func FindShort(letter string) (Option, bool) {
	return find(func(o Option) bool { return o.Short == letter && letter != "" })
}

// find returns the first option for which is returns true.
func find(is func(Option) bool) (Option, bool) {
	i := slices.IndexFunc(options(), is)
	if i < 0 {
		return Option{}, false
	}
	return options()[i], true
}
