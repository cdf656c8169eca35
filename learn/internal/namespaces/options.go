// SPDX-License-Identifier: Apache-2.0

// Package namespaces has the options of a run on namespaces: which are dropped, crossed, renamed
// or cut, and which words become further features. The caller gives them in the forms of package
// feature, and a loaded model may add to them:
//
//	n := namespaces.Options{Quadratic: []string{"ab"}}
//	err := errors.Join(n.Validate(), n.Take(name, &model.Header)) // the options of the model
//	n.Apply(&parserConfig)
//
// [Options.Model] is the reverse of [Options.Take]: the options that a model keeps. As in vw a
// model keeps only some of them.
package namespaces

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/usage"
	"github.com/gvw-project/gvw/model"
)

// Options has the options on namespaces as the caller gives them. Package feature documents
// their forms and effects.
//
// A namespace is named by its first byte, and the zero value of each field has no effect.
type Options struct {
	Quadratic       []string // pairs of namespaces to cross, such as "ab"; ':' is any
	Cubic           []string // triples of namespaces to cross, such as "abc"
	Interactions    []string // sets of two and more namespaces to cross
	Permutations    bool     // cross a namespace with itself in every order; false: in one
	LeaveDuplicates bool     // keep interactions of the same namespaces; false: once
	Ignore          []string // namespaces that are dropped
	IgnoreLinear    []string // namespaces that only interactions use
	Keep            []string // the only namespaces that are kept
	Redefine        []string // rules "N:=S": features of the namespaces S count as those of N
	NGrams          []string // largest n of n-grams: "2" in all namespaces, "a2" in a
	Skips           []string // words that n-grams may skip, in the form of NGrams
	Limits          []string // largest number of features of a namespace, in the form of NGrams
	Affix           string   // prefixes and suffixes that become features, such as "+2a,-3b"
	Spelling        []string // namespaces whose names get features of their spelling; "_" is the default one
	ChainHash       bool     // hash text values of JSON in two steps, as text always does
	SortFeatures    bool     // sort the features of a namespace, and drop repeated ones
	Dictionary      []string // files of features to add, in the form FILE or NAMESPACE:FILE

	Dictionaries    []*feature.Dictionary // the files of Dictionary, read; Load fills it
	DictionaryLines []string              // vw's lines about them; Load fills it
}

// Apply sets the fields of the parser's configuration that the options determine.
func (n *Options) Apply(f *feature.Config) {
	f.Interactions = n.Crossed()
	f.Permutations, f.LeaveDuplicates = n.Permutations, n.LeaveDuplicates
	f.Ignore, f.IgnoreLinear, f.Keep, f.Redefine = n.Ignore, n.IgnoreLinear, n.Keep, n.Redefine
	f.NGrams, f.Skips, f.Limits = n.NGrams, n.Skips, n.Limits
	f.Affix, f.Spelling = n.Affix, n.Spelling
	f.ChainHash, f.SortFeatures = n.ChainHash, n.SortFeatures
	f.Dictionaries = n.Dictionaries
}

// Crossed returns the sets of namespaces of all interactions.
func (n *Options) Crossed() []string { return slices.Concat(n.Quadratic, n.Cubic, n.Interactions) }

// Validate reports every fault of the values at once, with the fields that have them. The command
// finds most of them earlier, by Check, and names the option.
func (n *Options) Validate() error {
	f := n.forms()
	if err := n.values(); err != nil {
		f.Add("", "%v", err)
	}
	return f.Err()
}

// forms returns the faults in the forms of the values.
func (n *Options) forms() (f usage.Faults) {
	for _, s := range n.Quadratic {
		if len(feature.Unescape(s)) != 2 {
			f.Add("Features.Namespaces.Quadratic", "%q is not a pair of namespaces, like ab (on a command line the option takes all words up to the next one, as in vw; data is given by learn.Config.Data.Inputs)", s)
		}
	}
	for _, s := range n.Cubic {
		if len(feature.Unescape(s)) != 3 {
			f.Add("Features.Namespaces.Cubic", "%q is not three namespaces, like abc (on a command line the option takes all words up to the next one, as in vw; data is given by learn.Config.Data.Inputs)", s)
		}
	}
	if n.SortFeatures && len(n.NGrams) > 0 {
		f.Add("Features.Namespaces.SortFeatures", "n-grams need the order of the text, as in vw: leave learn.Config.Features.Namespaces.NGrams or learn.Config.Features.Namespaces.SortFeatures out")
	}
	return f
}

// values reports whether the parser accepts the values.
func (n *Options) values() error {
	f := feature.Config{Bits: 18}
	n.Apply(&f)
	if len(f.NGrams) == 0 {
		f.Skips = nil
	}
	if err := f.Validate(); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "feature: "))
	}
	return nil
}

// Check returns the faults in the values, without the names of fields.
func (n *Options) Check() error {
	f := n.forms()
	if len(f) == 0 {
		return n.values()
	}
	for i, err := range f {
		if e, ok := errors.AsType[*usage.Error](err); ok {
			f[i] = errors.New(e.Text)
		}
	}
	return f.Err()
}

// Model returns the options that a model keeps, in vw's forms. N-grams and skips have
// fields of their own in the header. The others are not kept and must be given again.
func (n *Options) Model() []model.Option {
	var kept []model.Option
	add := func(name string, values ...string) {
		for _, v := range values {
			if v != "" {
				kept = append(kept, model.Option{Name: name, Value: storable(v)})
			}
		}
	}
	add("quadratic", n.Quadratic...)
	add("cubic", n.Cubic...)
	add("interactions", n.Interactions...)
	add("redefine", n.Redefine...)
	add("affix", n.Affix)
	add("spelling", n.Spelling...)
	add("dictionary", n.Dictionary...)
	if n.ChainHash {
		kept = append(kept, model.Option{Name: "chain_hash"})
	}
	add("ignore", feature.Namespaces(n.Ignore))
	add("ignore_linear", feature.Namespaces(n.IgnoreLinear))
	add("keep", feature.Namespaces(n.Keep))
	return kept
}

// PlainWords returns the values without escapes, as a header stores them.
func PlainWords(list []string) []string {
	var plain []string
	for _, v := range list {
		plain = append(plain, feature.Unescape(v))
	}
	return plain
}

// storable escapes blanks, which separate the options that a model keeps.
func storable(v string) string {
	if !strings.ContainsAny(v, " \t\n\x00") {
		return v
	}
	return feature.Escape(v)
}

// Take merges the options that a model keeps, behind those that were given, as vw does. Lists
// grow. If any interaction was given, all those of the model are ignored. name is the file, for
// messages.
func (n *Options) Take(name string, h *model.Header) error {
	if len(n.Crossed()) == 0 {
		n.Quadratic = h.Values("quadratic")
		n.Cubic = h.Values("cubic")
		n.Interactions = h.Values("interactions")
	}
	n.Ignore = append(n.Ignore, h.Values("ignore")...)
	n.IgnoreLinear = append(n.IgnoreLinear, h.Values("ignore_linear")...)
	n.Keep = append(n.Keep, h.Values("keep")...)
	n.Redefine = append(n.Redefine, h.Values("redefine")...)
	n.Spelling = append(n.Spelling, h.Values("spelling")...)
	n.Dictionary = append(n.Dictionary, h.Values("dictionary")...)
	n.NGrams = append(n.NGrams, h.NGrams...)
	n.Skips = append(n.Skips, h.Skips...)
	n.ChainHash = n.ChainHash || h.Has("chain_hash")
	for _, v := range h.Values("affix") {
		if n.Affix != "" && n.Affix != v {
			return usage.New("Features.Namespaces.Affix", "Disagreeing option values for 'affix': '%s' vs '%s' (of %s)", n.Affix, v, name)
		}
		n.Affix = v
	}
	return n.forms().Err()
}

// IsOption reports whether Take handles an option.
func IsOption(name string) bool {
	switch name {
	case "quadratic", "cubic", "interactions", "ignore", "ignore_linear", "keep", "redefine", "spelling", "dictionary", "chain_hash", "affix":
		return true
	}
	return false
}

// BannerLines passes to line the lines of the banner on namespaces, in vw's words and order.
func (n *Options) BannerLines(line func(format string, args ...any)) {
	counts := func(list []string, format, one, all string) {
		for _, v := range list {
			where, number := all, v
			if v[0] < '0' || v[0] > '9' {
				where, number = fmt.Sprintf(one, feature.Escape(v[:1])), v[1:]
			}
			line(format, number, where)
		}
	}
	sets := func(list []string, text string) {
		if len(list) > 0 {
			line("%s: %s", text, strings.Join(list, " "))
		}
	}
	bytes := func(list []string, text string) {
		if len(list) > 0 {
			letters := feature.Unescape(feature.Namespaces(list))
			escaped := make([]string, len(letters))
			for i := range len(letters) {
				escaped[i] = feature.Escape(letters[i : i+1])
			}
			line("%s: %s", text, strings.Join(escaped, " "))
		}
	}
	counts(n.NGrams, "[info] Generating %s-grams for %s.", "%s namespaces", "all namespaces")
	counts(n.Skips, "[info] Generating %s-skips for %s.", "%s namespaces", "all namespaces")
	counts(n.Limits, "[warning] limiting to %s features for %s.", "namespaces %s", "each namespace")
	sets(n.Quadratic, "creating quadratic features for pairs")
	sets(n.Cubic, "creating cubic features for triples")
	sets(n.Interactions, "creating features for following interactions")
	bytes(n.Ignore, "ignoring namespaces beginning with")
	bytes(n.IgnoreLinear, "ignoring linear terms for namespaces beginning with")
	bytes(n.Keep, "using namespaces beginning with")
}
