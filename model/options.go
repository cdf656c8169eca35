// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Option is an option that a model keeps, with vw's long name and without
// dashes. An option that was given several times is several Options.
type Option struct {
	Name  string
	Value string // empty: a flag
}

// FloatOption returns the option in the form in which vw keeps a float: 15
// significant digits of the float32 value.
func FloatOption(name string, value float32) Option {
	return Option{name, strconv.FormatFloat(float64(value), 'g', 15, 64)}
}

func (o Option) check() error {
	if !isName(o.Name) || strings.ContainsAny(o.Value, " \t\n\x00") || isFlag(o.Value) {
		return fmt.Errorf("model: option --%s %q: want a long name and a value without blanks", o.Name, o.Value)
	}
	return nil
}

func isName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || i > 0 && (c >= '0' && c <= '9' || c == '-')) {
			return false
		}
	}
	return s != ""
}

// isFlag distinguishes an option's name from a value that begins with dashes.
func isFlag(s string) bool { return strings.HasPrefix(s, "--") && isName(s[2:]) }

// vwOrder compares options by the order in which vw keeps them: by name, with the filters of
// namespaces and the state of the random numbers at the end.
func vwOrder(a, b Option) int {
	late := func(o Option) int {
		switch o.Name {
		case "ignore", "ignore_linear", "keep":
			return 1
		case "random_seed":
			return 2
		}
		return 0
	}
	return cmp.Or(cmp.Compare(late(a), late(b)), cmp.Compare(a.Name, b.Name))
}

// AppendOptions appends the options as a file keeps them, " --name value" in
// vw's order: alphabetical, ignore, ignore_linear and keep after all others.
// Options of one name stay in their order.
func AppendOptions(dst []byte, options []Option) []byte {
	if !slices.IsSortedFunc(options, vwOrder) {
		options = slices.Clone(options)
		slices.SortStableFunc(options, vwOrder)
	}
	for _, o := range options {
		dst = append(append(dst, " --"...), o.Name...)
		if o.Value != "" {
			dst = append(append(dst, ' '), o.Value...)
		}
	}
	return dst
}

// ParseOptions returns the inverse of AppendOptions. It also takes the forms of
// older versions: --name=value, and several values after one name.
func ParseOptions(text string) ([]Option, error) {
	var options []Option
	taken := true // the last option has its value, or there is no option yet
	for _, word := range strings.Fields(text) {
		if strings.HasPrefix(word, "--") {
			name, value, _ := strings.Cut(word[2:], "=")
			if isName(name) {
				options = append(options, Option{name, value})
				taken = value != ""
				continue
			}
		}
		switch {
		case len(options) == 0:
			return nil, fmt.Errorf("options begin with %.40q, want --name", word)
		case !taken:
			options[len(options)-1].Value = word
			taken = true
		default:
			options = append(options, Option{options[len(options)-1].Name, word})
		}
	}
	return options, nil
}

// Has reports whether the option is kept.
func (h *Header) Has(name string) bool {
	return slices.ContainsFunc(h.Options, func(o Option) bool { return o.Name == name })
}

// Values returns the values of the option, in order.
func (h *Header) Values(name string) []string {
	var values []string
	for _, o := range h.Options {
		if o.Name == name {
			values = append(values, o.Value)
		}
	}
	return values
}

// Float returns the value of an option that is a number; false when the
// option is not kept or not a number.
func (h *Header) Float(name string) (float32, bool) {
	for _, o := range h.Options {
		if o.Name == name {
			v, err := strconv.ParseFloat(o.Value, 32)
			return float32(v), err == nil
		}
	}
	return 0, false
}

// floats returns how many floats per weight a file with resume state keeps:
// the weight, G if the rule is adaptive, N if it is normalised. Without any of
// the four options the rule is both. The FTRL family has sums of its own.
func (h *Header) floats() int {
	switch {
	case h.Has("coin"), h.Has("freegrad"):
		return 6
	case h.Has("pistol"):
		return 4
	case h.Has("ftrl"):
		return 3
	case h.Has("svrg"):
		return 1
	}
	adaptive, normalized := h.Has("adaptive"), h.Has("normalized")
	if !adaptive && !normalized && !h.Has("sgd") && !h.Has("invariant") {
		return 3
	}
	n := 1
	if adaptive {
		n++
	}
	if normalized {
		n++
	}
	return n
}
