// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/gvw-project/gvw/feature"
)

// Key identifies the input and the options that determine a cache.
type Key struct {
	// Features is the configuration of the parser. Expanding, which applies to examples after
	// the cache, and MaxLine are ignored. A cache made with Strict is also valid without it,
	// but not vice versa.
	Features feature.Config
	// Format names the format of the text and its options. Empty: vw's.
	Format string
	// Input identifies the text: names, sizes, modification times. Empty when creating:
	// unknown. Empty when opening: any.
	Input string
}

const (
	noInput  = "unknown" // stands in the file for an input that is not known
	noFormat = "text"    // for vw's own
)

// longValue is the length in bytes beyond which values are replaced by their digest in a key that would be too long.
const longValue = 80

// text returns the key as it is in a file, at most maxKey bytes.
func (k *Key) text() string {
	// The last lines may differ between writing and opening, so the form of the values must not depend on their length.
	text := k.lines(func(value string) string { return value })
	if len(text)+longestEnd > maxKey {
		text = k.lines(func(value string) string {
			if len(value) <= longValue {
				return value
			}
			return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(value)))
		})
	}
	return text + k.end()
}

// lines returns the lines of the options that decide what the parser makes of a text, with values as shown returns them.
func (k *Key) lines(shown func(value string) string) string {
	c := &k.Features
	hash := "strings"
	if c.HashAll {
		hash = "all"
	}
	format := noFormat
	if k.Format != "" {
		format = k.Format
	}
	var b strings.Builder
	fmt.Fprintf(&b, "format=%s\nbits=%d\nhash=%s\nhash_seed=%d\nconstant=%t\n", shown(format), c.Bits, hash, c.HashSeed, !c.NoConstant)
	for _, s := range c.Shaping() {
		fmt.Fprintf(&b, "%s=%s\n", s.Name, shown(s.Value))
	}
	return b.String()
}

// longestEnd is the greatest length of end, in bytes.
const longestEnd = len("input=\n") + 2*sha256.Size + len(strictLine)

const strictLine = "strict=true\n"

// end returns the last lines of the key.
func (k *Key) end() string {
	input := noInput
	if k.Input != "" {
		input = fmt.Sprintf("%x", sha256.Sum256([]byte(k.Input)))
	}
	text := "input=" + input + "\n"
	if k.Features.Strict {
		text += strictLine
	}
	return text
}

// compare returns the difference between the text of the key in a file and k; nil if the cache
// can be used.
func (k *Key) compare(file, text string) error {
	have := parts(text)
	for line := range strings.Lines(k.text()) {
		name, want, _ := strings.Cut(strings.TrimSpace(line), "=")
		if got := have[name]; got != want && !(name == "input" && k.Input == "") {
			return &StaleError{File: file, Part: name, Have: got, Want: want}
		}
	}
	return nil
}

func parts(text string) map[string]string {
	all := make(map[string]string)
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		all[name] = value
	}
	return all
}

// A StaleError is a valid cache with another key than the requested one.
type StaleError struct {
	File       string
	Part       string // format, bits, hash, hash_seed, constant, input, strict, or one of feature.Config.Shaping
	Have, Want string
}

func (e *StaleError) Error() string { return fmt.Sprintf("cache %s: %s", e.File, e.Reason()) }

// Reason returns the difference, without the file's name.
func (e *StaleError) Reason() string {
	if e.Part == "input" {
		return "it was made from other data, or the data has changed since"
	}
	switch {
	case e.Have == "":
		return fmt.Sprintf("it was made without %s=%s", e.Part, e.Want)
	case e.Want == "":
		return fmt.Sprintf("it was made with %s=%s", e.Part, e.Have)
	}
	return fmt.Sprintf("it was made with %s=%s, not %s", e.Part, e.Have, e.Want)
}

// A CorruptError is a file that is not a complete cache.
type CorruptError struct {
	File   string
	Block  int64 // counted from 0; -1: outside the blocks
	Offset int64 // of the block, or of the fault
	What   string
}

func (e *CorruptError) Error() string {
	where := fmt.Sprintf("byte %d", e.Offset)
	if e.Block >= 0 {
		where = fmt.Sprintf("block %d at byte %d", e.Block, e.Offset)
	}
	return fmt.Sprintf("cache %s is damaged: %s: %s: delete it, or build it again with stream.Config.KillCache", e.File, where, e.What)
}
