// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
)

// kind is the kind of value that an option takes.
type kind uint8

const (
	Boolean  kind = iota // nothing
	Text                 // one word
	List                 // one word, then all up to the next option, as vw's vectors
	Integer              // a whole number, base 10
	Float                // a float32, as vw has it
	Duration             // 10s, 1m30s, or a number of seconds
)

// Spec is one option. Parser, help, documentation and configuration are derived from it.
type Spec struct {
	Name  string // long name, with underscores
	Short string // one letter; empty: none
	// Sets lists the fields of learn.Config that the value goes to, with commas between them;
	// empty: other code takes the value. read converts the words of the value to the
	// type of the fields; nil: their types say how.
	Sets     string
	Read     func(words []string) (any, error)
	About    string // field that errors name for the option, of one that sets none
	Kind     kind
	Category string
	Arg      string   // name of the value in help
	Help     string   // one line
	Def      string   // default in help; empty: none
	Choices  []string // text: one of these
	Max      uint64   // integer: the largest; 0: what fits 31 bits
	Positive bool     // numbers: above 0
	Empty    bool     // text: the value may be empty, for no file
	Repeat   bool     // text: several different values are fine
	Alias    string   // another long name; empty: none
	Single   bool     // list: vw's grammar takes several, but only one makes sense
	Unset    string   // value of vw's that is the same as leaving the option out; empty: none
	Wraps    bool     // integer: a negative number counts down from max+1, as in vw; max is a power of 2, less 1
	More     bool     // not on the first screen of help
}

// Env returns the name of the variable that sets the option.
func (s *Spec) Env() string { return "GVW_" + strings.ToUpper(s.Name) }

// Spelled returns the option as messages name it.
func (s *Spec) Spelled() string { return "--" + s.Name }
