// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/model"
)

// Namespaces has the options on namespaces as the caller gives them. Package feature documents
// their forms and effects.
type Namespaces struct {
	Quadratic       []string              // -q: pairs, ':' is a wildcard
	Cubic           []string              // --cubic: triples
	Interactions    []string              // --interactions: sets of two and more
	Permutations    bool                  // --permutations: cross a namespace with itself in every order
	LeaveDuplicates bool                  // --leave_duplicate_interactions
	Ignore          []string              // --ignore: namespaces that are dropped
	IgnoreLinear    []string              // --ignore_linear: namespaces that only interactions use
	Keep            []string              // --keep: drop all other namespaces
	Redefine        []string              // --redefine: N:=S, features of the namespaces S go to N
	NGrams          []string              // --ngram: N, or a namespace and N
	Skips           []string              // --skips: words that n-grams may skip, in the form of NGrams
	Limits          []string              // --feature_limit: largest number of features, in the form of NGrams
	Affix           string                // --affix: prefixes and suffixes that become features
	Spelling        []string              // --spelling: namespaces whose words get features of their spelling
	ChainHash       bool                  // --chain_hash: of JSON; in text it is always so
	SortFeatures    bool                  // --sort_features
	Dictionary      []string              // --dictionary: [namespace:]file
	Dictionaries    []*feature.Dictionary // the same, read; Run fills it
	DictionaryLines []string              // vw's lines about them; Run fills it
}

// features returns the configuration of the parser.
func (c *Config) features() feature.Config {
	n := &c.Features.Namespaces
	if c.Data.Format == FormatJSON || c.Data.Format == FormatCSV { // as in vw, some options apply to text only
		text := *n
		n, text.Redefine, text.Affix, text.Spelling = &text, nil, "", nil
	}
	return feature.Config{
		Bits:            c.Features.Bits,
		HashAll:         c.Features.Hash == "all",
		HashSeed:        c.Features.HashSeed.Value,
		NoConstant:      c.Features.NoConstant,
		Classes:         c.OAA.Classes > 0,
		ClassNames:      c.OAA.names(),
		Interactions:    n.crossed(),
		Permutations:    n.Permutations,
		LeaveDuplicates: n.LeaveDuplicates,
		Ignore:          n.Ignore,
		IgnoreLinear:    n.IgnoreLinear,
		Keep:            n.Keep,
		Redefine:        n.Redefine,
		NGrams:          n.NGrams,
		Skips:           n.Skips,
		Limits:          n.Limits,
		Affix:           n.Affix,
		Spelling:        n.Spelling,
		ChainHash:       n.ChainHash,
		SortFeatures:    n.SortFeatures,
		Dictionaries:    n.Dictionaries,
		Names:           c.named(),
		Strict:          c.Data.Strict,
		MaxLine:         c.Data.MaxLine,
	}
}

// crossed returns the sets of namespaces of all interactions.
func (n *Namespaces) crossed() []string { return slices.Concat(n.Quadratic, n.Cubic, n.Interactions) }

// Validate reports every fault of the values at once, with the fields that have them. The command
// finds most of them earlier, by Check, and names the option.
func (n *Namespaces) Validate() error {
	f := n.forms()
	if err := n.values(); err != nil {
		f.add("", "%v", err)
	}
	return f.err()
}

// forms returns the faults in the forms of the values.
func (n *Namespaces) forms() (f faults) {
	for _, s := range n.Quadratic {
		if len(feature.Unescape(s)) != 2 {
			f.add("Features.Namespaces.Quadratic", "%q is not a pair of namespaces, like ab (on a command line the option takes all words up to the next one, as in vw; data is given by learn.Config.Data.Inputs)", s)
		}
	}
	for _, s := range n.Cubic {
		if len(feature.Unescape(s)) != 3 {
			f.add("Features.Namespaces.Cubic", "%q is not three namespaces, like abc (on a command line the option takes all words up to the next one, as in vw; data is given by learn.Config.Data.Inputs)", s)
		}
	}
	if n.SortFeatures && len(n.NGrams) > 0 {
		f.add("Features.Namespaces.SortFeatures", "n-grams need the order of the text, as in vw: leave learn.Config.Features.Namespaces.NGrams or learn.Config.Features.Namespaces.SortFeatures out")
	}
	return f
}

// values reports whether the parser accepts the values.
func (n *Namespaces) values() error {
	c := Config{Features: FeatureConfig{Bits: 18, Namespaces: *n}}
	f := c.features()
	if len(f.NGrams) == 0 {
		f.Skips = nil
	}
	if err := f.Validate(); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "feature: "))
	}
	return nil
}

// Check returns the faults in the values, without the names of fields.
func (n *Namespaces) Check() error {
	f := n.forms()
	if len(f) == 0 {
		return n.values()
	}
	for i, err := range f {
		if e, ok := errors.AsType[*UsageError](err); ok {
			f[i] = errors.New(e.Text)
		}
	}
	return f.err()
}

// modelOptions returns the options that a model keeps, in vw's forms. N-grams and skips have
// fields of their own in the header. The others are not kept and must be given again.
func (n *Namespaces) modelOptions() []model.Option {
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

// plainWords returns the values without escapes, as a header stores them.
func plainWords(list []string) []string {
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

// take merges the options that a model keeps, behind those that were given, as vw does. Lists
// grow. If any interaction was given, all those of the model are ignored. name is the file, for
// messages.
func (n *Namespaces) take(name string, h *model.Header) error {
	if len(n.crossed()) == 0 {
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
			return usage("Features.Namespaces.Affix", "Disagreeing option values for 'affix': '%s' vs '%s' (of %s)", n.Affix, v, name)
		}
		n.Affix = v
	}
	return n.forms().err()
}

// isNamespaceOption reports whether take handles an option.
func isNamespaceOption(name string) bool {
	switch name {
	case "quadratic", "cubic", "interactions", "ignore", "ignore_linear", "keep", "redefine", "spelling", "dictionary", "chain_hash", "affix":
		return true
	}
	return false
}

// namespaceDigest passes to add the options on which all ranks must agree.
func (c *Config) namespaceDigest(add func(name string, value any)) {
	f := c.features()
	for _, s := range slices.Concat(f.Shaping(), f.Expanding()) {
		if s.Value != "" {
			add(s.Name, s.Value)
		}
	}
}

// say adds the lines of the banner on namespaces, in vw's words and order.
func (n *Namespaces) say(b *banner) {
	counts := func(list []string, format, one, all string) {
		for _, v := range list {
			where, number := all, v
			if v[0] < '0' || v[0] > '9' {
				where, number = fmt.Sprintf(one, feature.Escape(v[:1])), v[1:]
			}
			b.addf(format, number, where)
		}
	}
	sets := func(list []string, text string) {
		if len(list) > 0 {
			b.addf("%s: %s", text, strings.Join(list, " "))
		}
	}
	bytes := func(list []string, text string) {
		if len(list) > 0 {
			letters := feature.Unescape(feature.Namespaces(list))
			escaped := make([]string, len(letters))
			for i := range len(letters) {
				escaped[i] = feature.Escape(letters[i : i+1])
			}
			b.addf("%s: %s", text, strings.Join(escaped, " "))
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
