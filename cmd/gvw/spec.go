// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
)

// kind is what a flag takes.
type kind uint8

const (
	boolean  kind = iota // nothing
	text                 // one word
	list                 // one word, then all up to the next option, as vw's vectors
	integer              // a whole number, base 10
	float                // a float32, as vw has it
	duration             // 10s, 1m30s, or a number of seconds
)

// spec is one flag. The parser, the help and the documentation are made from
// the table of these; nothing about a flag is written anywhere else but what it
// does.
type spec struct {
	name  string // long name, with underscores
	short string // one letter; empty: none
	// sets lists the fields of learn.Config that the value goes to, with commas between them;
	// empty: other code takes the value. read converts the words of the value to the
	// type of the fields; nil: their types say how.
	sets     string
	read     func(words []string) (any, error)
	about    string // field that errors name for the option, of one that sets none
	kind     kind
	category string
	arg      string   // what help calls the value
	help     string   // one line
	def      string   // the default, for people; empty: none
	choices  []string // text: one of these
	max      uint64   // integer: the largest; 0: what fits 31 bits
	positive bool     // numbers: above 0
	empty    bool     // text: the value may be empty, for no file
	repeat   bool     // text: several different values are fine
	alias    string   // another long name; empty: none
	single   bool     // list: vw's grammar takes several, but only one makes sense
	unset    string   // value of vw's that is the same as leaving the option out; empty: none
	wraps    bool     // integer: a negative number counts down from max+1, as in vw; max is a power of 2, less 1
	more     bool     // not on the first screen of help
}

// env is the environment variable that sets the flag.
func (s *spec) env() string { return "GVW_" + strings.ToUpper(s.name) }

// spelled is the flag as messages name it.
func (s *spec) spelled() string { return "--" + s.name }
