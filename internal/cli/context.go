// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"strconv"
	"time"
)

// Context has the typed values of the options of a command line. An option that was not given,
// or that the command does not have, has the zero value. The methods panic if the option has
// another kind.
type Context struct {
	Context  context.Context // of the command
	settings *Settings
}

// ActionFunc runs a command with the values of its options.
type ActionFunc func(*Context) error

// Dispatch calls action with typed values of the options.
func (s *Settings) Dispatch(ctx context.Context, action ActionFunc) error {
	return action(&Context{ctx, s})
}

// IsSet reports whether an option was given, on the command line or by a variable.
func (c *Context) IsSet(name string) bool { return c.settings.Has(name) }

// All returns the words of an option of any kind, in canonical form; nil if it was not given.
func (c *Context) All(name string) []string { return c.settings.All(name) }

// Bool reports whether a flag was given.
func (c *Context) Bool(name string) bool { return c.word(name, Boolean) != "" }

// String returns the value of an option with one word.
func (c *Context) String(name string) string { return c.word(name, Text) }

// StringSlice returns the values of a list, or of an option that may be repeated.
func (c *Context) StringSlice(name string) []string {
	if s := c.spec(name); s != nil && s.Kind != List && !s.Repeat {
		panic("BUG: --" + name + " has one value")
	}
	return c.settings.All(name)
}

// Uint64 returns the value of an integer option.
func (c *Context) Uint64(name string) uint64 {
	return canonical(name, c.word(name, Integer), func(s string) (uint64, error) { return strconv.ParseUint(s, 10, 64) })
}

// Float64 returns the value of an option that is a number.
func (c *Context) Float64(name string) float64 {
	return canonical(name, c.word(name, Float), func(s string) (float64, error) { return strconv.ParseFloat(s, 64) })
}

// Duration returns the value of an option that is a time.
func (c *Context) Duration(name string) time.Duration {
	return canonical(name, c.word(name, Duration), time.ParseDuration)
}

// word returns the word of an option of this kind that has one value; "" if it was not given.
func (c *Context) word(name string, k kind) string {
	if s := c.spec(name); s != nil && (s.Kind != k || s.Repeat) {
		panic("BUG: --" + name + " is of another kind")
	}
	return c.settings.Get(name)
}

// spec returns the option with this name, or nil if the command has none.
func (c *Context) spec(name string) *Spec {
	for _, s := range c.settings.Flags.Specs {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// canonical converts a word, which Parse has checked.
func canonical[T any](name, word string, parse func(string) (T, error)) (v T) {
	if word == "" {
		return v
	}
	v, err := parse(word)
	if err != nil {
		panic("BUG: --" + name + " is not canonical: " + word)
	}
	return v
}
