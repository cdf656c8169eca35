// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"errors"
	"fmt"
)

// Limits on what one line may become.
const (
	// DefaultMaxLine is the longest line that is read when Config.MaxLine is 0.
	DefaultMaxLine = 64 << 20
	// MaxFeatures is the most features that one example may have,
	// interactions included: 512 MiB of them.
	MaxFeatures = 1 << 26
)

// Config says how text becomes features. All ranks of a job and all runs on one
// model must agree on everything but Strict and MaxLine.
type Config struct {
	// Bits is log2 of the number of weights, 1 to 32. vw's default is 18.
	Bits uint
	// HashAll hashes names of digits alone like all others (--hash all).
	// False: they are numbers (--hash strings).
	HashAll bool
	// HashSeed seeds the hashes of namespaces. 0: vw's default.
	HashSeed uint32
	// NoConstant leaves the constant feature out.
	NoConstant bool
	// Interactions are pairs of namespaces, two bytes each, by first byte; ':'
	// stands for every namespace of the example from ' ' to '~'. None: no
	// interactions. Doubles are dropped, also in the other order ("ab", "ba").
	Interactions []string
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
		if len(q) != 2 {
			errs = append(errs, fmt.Errorf("feature: interaction %q: want two namespaces, by the first byte of their names (\"ab\"), got %d bytes", q, len(q)))
		}
	}
	if c.MaxLine < 0 {
		errs = append(errs, fmt.Errorf("feature: longest line of %d bytes: want 0 (%d) or more", c.MaxLine, DefaultMaxLine))
	}
	return errors.Join(errs...)
}

// LineLimit is MaxLine, or its default.
func (c *Config) LineLimit() int {
	if c.MaxLine == 0 {
		return DefaultMaxLine
	}
	return c.MaxLine
}

// Mask keeps the low Bits bits of a hash.
func (c *Config) Mask() uint32 { return uint32(1<<c.Bits - 1) }

// Index is the number of the weight of a named feature. The default namespace
// has the empty name.
func (c *Config) Index(namespace, name string) uint32 {
	hash := hasher(c.HashAll)
	salt := c.defaultSalt()
	if namespace != "" {
		salt = hash([]byte(namespace), c.HashSeed)
	}
	return hash([]byte(name), salt) & c.Mask()
}

// defaultSalt is the hash of the default namespace: vw hashes its empty name
// with murmur whatever --hash says, but only when there is a seed.
func (c *Config) defaultSalt() uint32 {
	if c.HashSeed == 0 {
		return 0
	}
	return Murmur3(nil, c.HashSeed)
}

// A LimitError is an example that would have more than MaxFeatures features.
type LimitError struct {
	Line     int64  // 1-based number of the line; 0: not known
	Features uint64 // how many it would have
}

func (e *LimitError) Error() string {
	where := ""
	if e.Line > 0 {
		where = fmt.Sprintf("line %d: ", e.Line)
	}
	return fmt.Sprintf("%s%d features with interactions, the limit is %d: use fewer interactions or shorter lines", where, e.Features, MaxFeatures)
}
