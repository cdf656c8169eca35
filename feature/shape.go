// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Namespaces of features that vw makes on the side. They can be named in
// options, as \x84 and \x85.
const (
	affixNamespace    byte = 132
	spellingNamespace byte = 133
)

// The longest n-gram and the most skips: a model's header has room for two
// characters of each option.
const (
	maxGram     = 99 // of all namespaces
	maxGramOfNS = 9  // of one, which takes a character
)

// shape is Config's options on namespaces, by first byte.
type shape struct {
	ignore   [256]bool
	hidden   [256]bool // --ignore_linear
	redefine [256]byte
	grams    [256]uint16
	skips    [256]uint16
	limit    [256]uint32
	affix    [256]uint64 // four bits for each: length, and 1 for a prefix; the last one lowest
	spelling [256]bool

	dictionaries [256][]*Dictionary

	hides   bool // some namespace is in hidden
	sorts   bool // --sort_features
	reduces bool // --ignore, --keep, n-grams, limits or sorting: features are to be moved
	sides   bool // --affix, --spelling or --dictionary
}

// newShape reads the options and reports all their faults.
func newShape(c *Config) (*shape, error) {
	s := &shape{}
	var errs []error
	check := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	for i := range s.limit {
		s.limit[i] = math.MaxUint32
		s.redefine[i] = byte(i)
	}
	for _, v := range c.Ignore {
		set(&s.ignore, v, true)
	}
	if len(c.Keep) > 0 {
		for i := range s.ignore {
			s.ignore[i] = true
		}
	}
	for _, v := range c.Keep {
		set(&s.ignore, v, false)
	}
	for _, v := range c.IgnoreLinear {
		set(&s.hidden, v, true)
	}
	for _, v := range c.Redefine {
		check(s.addRedefine(v))
	}
	for _, v := range c.NGrams {
		check(each("n-gram", Unescape(v), 0, maxGram, maxGramOfNS, func(ns byte, n uint32) { s.grams[ns] = uint16(n) }))
	}
	for _, v := range c.Skips {
		check(each("skip", Unescape(v), 1, maxGram, maxGramOfNS, func(ns byte, n uint32) { s.skips[ns] = uint16(n) }))
	}
	if len(c.Skips) > 0 && len(c.NGrams) == 0 {
		check(errors.New("feature: skips are of n-grams, and there are none"))
	}
	for _, v := range c.Limits {
		check(each("feature limit", v, 0, math.MaxInt32, math.MaxInt32, func(ns byte, n uint32) { s.limit[ns] = n }))
	}
	check(s.addAffixes(Unescape(c.Affix)))
	for _, v := range c.Spelling {
		switch v := Unescape(v); { // of several bytes the first counts, as in vw
		case strings.HasPrefix(v, "_"):
			s.spelling[' '] = true
		case v != "":
			s.spelling[v[0]] = true
		default:
			check(fmt.Errorf("feature: spelling %q: want one namespace, by the first byte of its name, or _ for the default one", v))
		}
	}
	for _, d := range c.Dictionaries {
		s.dictionaries[d.namespace] = append(s.dictionaries[d.namespace], d)
	}
	s.sorts = c.SortFeatures
	s.hides = len(c.IgnoreLinear) > 0
	s.reduces = len(c.Ignore)+len(c.Keep)+len(c.NGrams)+len(c.Limits) > 0 || s.sorts
	s.sides = c.Affix != "" || len(c.Spelling)+len(c.Dictionaries) > 0
	return s, errors.Join(errs...)
}

func set(to *[256]bool, namespaces string, v bool) {
	text := Unescape(namespaces)
	for i := range len(text) {
		to[text[i]] = v
	}
}

// each reads "3", which is for every namespace, or "a3", which is for one.
func each(what, v string, least, most, mostOfNS uint32, f func(ns byte, n uint32)) error {
	number, from, to := v, 0, 255
	if v != "" && (v[0] < '0' || v[0] > '9') {
		number, from, to, most = v[1:], int(v[0]), int(v[0]), mostOfNS
	}
	n, err := strconv.ParseUint(number, 10, 32)
	if err != nil || uint32(n) < least || uint32(n) > most {
		return fmt.Errorf("feature: %s %q: want a number from %d to %d, for one namespace with the first byte of its name before it (\"a2\")", what, v, least, most)
	}
	for ns := from; ns <= to; ns++ {
		f(byte(ns), uint32(n))
	}
	return nil
}

// addRedefine reads "N:=S". As in vw the first byte of N counts, and an empty S is the
// default namespace, which no written name has: such a rule changes nothing. vw also
// takes "=" and "=S" for ":=" and ":=S".
func (s *shape) addRedefine(rule string) error {
	text := Unescape(rule)
	to := ""
	from, found := strings.CutPrefix(text, "=")
	if !found {
		to, from, found = strings.Cut(text, ":=")
	}
	if !found {
		return fmt.Errorf("feature: redefine %q: want N:=S, one byte for the new namespace, or none for the default one, and the first bytes of the old ones", rule)
	}
	n := byte(' ')
	if to != "" {
		n = to[0]
	}
	if strings.Contains(from, ":") {
		for i := range s.redefine {
			s.redefine[i] = n
		}
		return nil
	}
	for i := range len(from) {
		s.redefine[from[i]] = n
	}
	return nil
}

// addAffixes reads "+2a,-3b,+1".
func (s *shape) addAffixes(list string) error {
	for _, v := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' }) {
		rest, code := v, uint64(1)
		switch rest[0] {
		case '+':
			rest = rest[1:]
		case '-':
			rest, code = rest[1:], 0
		}
		ns := byte(' ')
		if len(rest) == 2 {
			ns = rest[1]
		}
		if len(rest) < 1 || len(rest) > 2 || rest[0] < '1' || rest[0] > '7' || ns == '|' || ns == ':' {
			return fmt.Errorf("feature: affix %q: want + or -, a length from 1 to 7, and the first byte of a namespace or nothing for the default one (\"+2a\")", v)
		}
		if s.affix[ns]>>60 != 0 {
			return fmt.Errorf("feature: affix %q: one namespace has at most 16", v)
		}
		s.affix[ns] = s.affix[ns]<<4 | uint64(rest[0]-'0')<<1 | code
	}
	return nil
}

// Unescape replaces \xHH by the byte it stands for, as vw does in options that
// name namespaces.
func Unescape(s string) string {
	if !strings.Contains(s, `\x`) {
		return s
	}
	var b []byte
	for i := 0; i < len(s); i++ {
		if i+4 <= len(s) && s[i] == '\\' && s[i+1] == 'x' {
			if v, err := strconv.ParseUint(s[i+2:i+4], 16, 8); err == nil {
				b = append(b, byte(v))
				i += 3
				continue
			}
		}
		b = append(b, s[i])
	}
	return string(b)
}

// Escape returns the inverse of Unescape: bytes that do not print become \xHH.
func Escape(s string) string {
	var b []byte
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 127 {
			b = fmt.Appendf(b, `\x%02x`, c)
		} else {
			b = append(b, c)
		}
	}
	return string(b)
}
