// SPDX-License-Identifier: Apache-2.0

package hdfsio

import "fmt"

// Kind is the way in which text is divided among the ranks of a job.
type Kind uint8

// The kinds of shards.
const (
	Whole Kind = iota // each rank reads all of it
	Bytes             // contiguous parts, cut at line ends
	Lines             // line n goes to rank (n-1) mod Total
)

// ParseKind parses "bytes" or "lines".
func ParseKind(s string) (Kind, error) {
	switch s {
	case "bytes":
		return Bytes, nil
	case "lines":
		return Lines, nil
	}
	return Whole, fmt.Errorf("unknown kind of shard %q: use bytes (contiguous parts) or lines (line n to rank (n-1) mod N)", s)
}

func (k Kind) String() string {
	switch k {
	case Whole:
		return "whole"
	case Bytes:
		return "bytes"
	case Lines:
		return "lines"
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Shard is one rank's share. The zero value is the whole text.
type Shard struct {
	Kind        Kind
	Rank, Total int // unused by Whole
}

// Validate returns an error for an invalid Shard.
func (s Shard) Validate() error {
	switch {
	case s.Kind > Lines:
		return fmt.Errorf("hdfsio: unknown kind of shard %v", s.Kind)
	case s.Kind == Whole:
		return nil
	case s.Total < 1:
		return fmt.Errorf("hdfsio: shard of %d ranks: want at least one", s.Total)
	case s.Rank < 0 || s.Rank >= s.Total:
		return fmt.Errorf("hdfsio: shard of rank %d: want 0 to %d", s.Rank, s.Total-1)
	}
	return nil
}

func (s Shard) String() string {
	if s.Kind == Whole {
		return "all"
	}
	return fmt.Sprintf("%v, rank %d of %d", s.Kind, s.Rank, s.Total)
}

// Cut returns the interval of size positions, of bytes or of rows, that is this rank's part by bytes.
func (s Shard) Cut(size int64) (lo, hi int64) {
	return share(size, s.Rank, s.Total), share(size, s.Rank+1, s.Total)
}

// share returns ⌊size·k/n⌋ without overflow.
func share(size int64, k, n int) int64 {
	q, r := size/int64(n), size%int64(n)
	return q*int64(k) + r*int64(k)/int64(n)
}
