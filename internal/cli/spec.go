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
	List                 // one word, then all up to the next option, like vw's vectors
	Integer              // a whole number, base 10
	Float                // a float32, as in vw
	Duration             // 10s, 1m30s, or a number of seconds
)

// Spec is one option. Parser, help, documentation and configuration are derived from it.
type Spec struct {
	Name  string // long name, with underscores
	Short string // one letter; empty: none
	// Sets lists the fields of learn.Config that the value is stored in, separated by commas;
	// empty: other code uses the value.
	Sets string
	// Read converts the words of the value to the type of the fields; nil: the value is
	// converted by its kind.
	Read     func(words []string) (any, error)
	About    string // field that errors name for this option, if Sets is empty
	Kind     kind
	Category string
	Arg      string   // name of the value in help
	Help     string   // one line
	Def      string   // default in help; empty: none
	Choices  []string // text: one of these
	Max      uint64   // integer: the largest; 0: what fits 31 bits
	Positive bool     // numbers: they must be above 0
	Implied  string   // text: value of the option without one; another value can only follow after "="; empty: it needs a value
	Empty    bool     // text: the value may be empty, which means no file
	Repeat   bool     // text: several different values are allowed
	Alias    string   // another long name; empty: none
	Single   bool     // list: as in vw the grammar takes several words, but only one value is valid
	Unset    string   // value that has the effect of leaving the option out, as in vw; empty: none
	Wraps    bool     // integer: a negative number counts down from Max+1, as in vw; Max is a power of 2, less 1
	More     bool     // not on the first screen of help
}

// envPrefix begins the names of the variables that set options.
const envPrefix = "GVW_"

// Env returns the name of the variable that sets the option.
func (s *Spec) Env() string { return envPrefix + strings.ToUpper(s.Name) }

// Spelled returns the option as messages name it.
func (s *Spec) Spelled() string { return "--" + s.Name }
