// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Limits on what one line may become.
const (
	// DefaultMaxLine is the longest line that is read when Config.MaxLine is 0.
	DefaultMaxLine = 64 << 20
	// MaxFeatures is the most features that one example may have,
	// interactions included: 512 MiB of them.
	MaxFeatures = 1 << 26
)

// Config describes how text becomes features. All ranks of a job and all runs with one
// model must agree on everything except Strict and MaxLine.
type Config struct {
	// Bits is log2 of the number of weights, 1 to 32. vw's default is 18.
	Bits uint
	// HashAll also hashes names that consist only of digits (--hash all). False: they are
	// numbers (--hash strings).
	HashAll bool
	// HashSeed seeds the hashes of namespaces. 0: vw's default.
	HashSeed uint32
	// NoConstant omits the constant feature.
	NoConstant bool
	// Interactions are sets of two or more namespaces, by first byte; ':' stands
	// for every namespace of the example from ' ' to '~', \xHH for any byte. None:
	// no interactions. Of sets with the same namespaces ("ab", "ba") one is kept.
	Interactions []string
	// Permutations crosses a namespace with itself in every order ("aa" gives
	// x·y and y·x). False: each combination once, with repetition.
	Permutations bool
	// LeaveDuplicates keeps all sets of Interactions.
	LeaveDuplicates bool

	// Ignore are the first bytes of namespaces that are dropped.
	Ignore []string
	// IgnoreLinear are the first bytes of namespaces that only interact: their
	// own features are counted and not summed.
	IgnoreLinear []string
	// Keep are the first bytes of the only namespaces to keep; it overrides
	// Ignore. None: all.
	Keep []string
	// Redefine are rules "N:=S": namespaces whose names begin with a byte of S
	// (':' in S: any) count as namespace N (empty: the default one) in all options
	// that name namespaces. Hashes stay those of the written name.
	Redefine []string

	// NGrams adds n-grams of neighbouring features: "2" in all namespaces, "a2"
	// in those that begin with a. Those of lower order come along.
	NGrams []string
	// Skips are how many features an n-gram may skip, written like NGrams.
	Skips []string
	// Limits are how many different features a namespace may have, written like
	// NGrams; those with the lowest numbers stay.
	Limits []string
	// Cut makes Limits treat features with the same weight as one, even if vw's text
	// parser distinguishes them: those without a name, affixes and spellings. vw does so
	// when it reads its cache.
	Cut bool
	// Affix adds prefixes and suffixes of names: "+2a,-3" the first two bytes in
	// namespaces a…, the last three in the default one.
	Affix string
	// Spelling are namespaces, by first byte ('_' for the default one), whose names
	// add a feature for the kinds of their letters.
	Spelling []string
	// Dictionaries add features, in text only.
	Dictionaries []*Dictionary
	// SortFeatures sorts the features of each namespace by the numbers of their weights,
	// and keeps one of those with the same number.
	SortFeatures bool
	// ChainHash is for JSON, where a text value is hashed in two steps only if it
	// is set; in text it always is.
	ChainHash bool

	// Labels is the kind of labels. Zero: vw's simple label.
	Labels LabelKind
	// ClassNames are the labels of the classes 1, 2, … of ClassLabels, where they are words.
	// None: they are numbers.
	ClassNames []string

	// Names keeps the name of every feature in Batch.Names. It costs time and
	// memory, and a cache has no room for names.
	Names bool
	// Whole keeps vw's number of every feature in Batch.Whole, before it is reduced to the size of
	// the table. It costs time, and a cache has no room for these numbers.
	Whole bool
	// Strict makes a malformed line an error (--strict_parse). False: vw's
	// recovery and a warning.
	Strict bool
	// MaxLine is the longest line, in bytes, that a reader accepts.
	// 0: DefaultMaxLine. A line may take ten times its length in memory.
	MaxLine int
}

// Validate reports every fault of c at once.
func (c *Config) Validate() error {
	var errs []error
	if c.Bits < 1 || c.Bits > 32 {
		errs = append(errs, fmt.Errorf("feature: %d bits: want 1 to 32", c.Bits))
	}
	for _, q := range c.Interactions {
		if n := len(Unescape(q)); n < 2 || n > maxOrder {
			errs = append(errs, fmt.Errorf("feature: interaction %q: want 2 to %d namespaces, by the first byte of their names (\"ab\"), got %d", q, maxOrder, n))
		}
	}
	if _, err := newShape(c); err != nil {
		errs = append(errs, err)
	}
	if c.Labels > MultiLabels {
		errs = append(errs, fmt.Errorf("feature: kind %d of labels: want 0 to %d", c.Labels, MultiLabels))
	}
	if c.MaxLine < 0 {
		errs = append(errs, fmt.Errorf("feature: longest line of %d bytes: want 0 (%d) or more", c.MaxLine, DefaultMaxLine))
	}
	return errors.Join(errs...)
}

// LineLimit returns MaxLine, or its default.
func (c *Config) LineLimit() int {
	if c.MaxLine == 0 {
		return DefaultMaxLine
	}
	return c.MaxLine
}

// Mask returns the mask of the low Bits bits of a hash.
func (c *Config) Mask() uint32 { return uint32(1<<c.Bits - 1) }

// Index returns the number of the weight of a named feature. The default namespace
// has the empty name.
func (c *Config) Index(namespace, name string) uint32 {
	hash := hasher(c.HashAll)
	salt := c.defaultSalt()
	if namespace != "" {
		salt = hash([]byte(namespace), c.HashSeed)
	}
	return hash([]byte(name), salt) & c.Mask()
}

// Setting is an option under vw's name, and its value as one word; empty: as if it
// were not given.
type Setting struct{ Name, Value string }

// Shaping returns the options that shape examples before their interactions: what a
// cache must agree on, Bits, HashAll, HashSeed and NoConstant aside.
func (c *Config) Shaping() []Setting {
	sorted := ""
	if c.SortFeatures {
		sorted = "on"
	}
	dictionaries := make([]string, len(c.Dictionaries))
	for i, d := range c.Dictionaries {
		dictionaries[i] = d.String()
	}
	chain := ""
	if c.ChainHash {
		chain = "on"
	}
	return []Setting{
		{"ignore", Namespaces(c.Ignore)},
		{"keep", Namespaces(c.Keep)},
		{"redefine", words(c.Redefine)},
		{"ngram", words(c.NGrams)},
		{"skips", words(c.Skips)},
		{"feature_limit", words(c.Limits)},
		{"affix", Escape(Unescape(c.Affix))},
		{"spelling", words(c.Spelling)},
		{"dictionary", strings.Join(dictionaries, ",")},
		{"sort_features", sorted},
		{"chain_hash", chain},
		{"labels", c.labels()},
	}
}

// Expanding returns the options that determine the interactions of an example.
func (c *Config) Expanding() []Setting {
	how := ""
	if c.Permutations {
		how = "permutations"
	}
	if c.LeaveDuplicates {
		how += "+duplicates"
	}
	return []Setting{
		{"interactions", words(c.Interactions)},
		{"ignore_linear", Namespaces(c.IgnoreLinear)},
		{"combinations", how},
	}
}

func words(list []string) string {
	escaped := make([]string, len(list))
	for i, s := range list {
		escaped[i] = Escape(Unescape(s))
	}
	return strings.Join(escaped, ",")
}

// Namespaces joins lists of first bytes as vw keeps them: sorted, each once,
// those that do not print as \xHH.
func Namespaces(lists []string) string {
	all := []byte(Unescape(strings.Join(lists, "")))
	slices.Sort(all)
	return Escape(string(slices.Compact(all)))
}

// defaultSalt returns the hash of the default namespace: vw hashes its empty name with murmur
// for every --hash, but only when there is a seed.
func (c *Config) defaultSalt() uint32 {
	if c.HashSeed == 0 {
		return 0
	}
	return Murmur3(nil, c.HashSeed)
}

// A LimitError reports an example that would have more than MaxFeatures features.
type LimitError struct {
	Line     int64  // 1-based number of the line; 0: not known
	Features uint64 // least number of features that it would have
}

func (e *LimitError) Error() string {
	where := ""
	if e.Line > 0 {
		where = fmt.Sprintf("line %d: ", e.Line)
	}
	return fmt.Sprintf("%s%d features with interactions, the limit is %d: use fewer interactions or n-grams, or shorter lines", where, e.Features, MaxFeatures)
}
