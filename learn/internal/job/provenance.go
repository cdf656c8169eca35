// SPDX-License-Identifier: Apache-2.0

package job

import (
	"fmt"
	"hash"
	"hash/crc32"

	"github.com/gvw-project/gvw/feature/stream"
	"github.com/gvw-project/gvw/learn/internal/snapshot"
)

// NewBasis returns a CRC-32C, into which the caller writes the models that a training starts
// from.
func NewBasis() hash.Hash32 { return crc32.New(crc32.MakeTable(crc32.Castagnoli)) }

// Provenance identifies what this rank's part of a state was made from.
type Provenance struct {
	Data  *stream.Dataset
	Basis hash.Hash32 // of the models that training starts from

	// earlier is the identity of the examples of an earlier attempt, until this one has read a whole pass: a
	// replacement that begins in the middle of the last pass never does. Zero: unknown.
	earlier [3]uint64
}

// Code codes the origin of a rank's part of a state: its examples, and the models that training
// started from. A reader refuses a state of another origin. Within a job the server already
// ensures that a replacement has the same data, but a checkpoint may come from any job.
func (o *Provenance) Code(c *snapshot.Coder, rank int) {
	read, bytes, crc := o.Data.Shard()
	own := [3]uint64{read, bytes, uint64(crc)}
	now := [4]uint64{own[0], own[1], own[2], uint64(o.Basis.Sum32())}
	if own == [3]uint64{} {
		copy(now[:], o.earlier[:])
	}
	then := now
	for i := range then {
		c.U64("what this rank has read", &then[i])
	}
	if !c.Reading() || c.Err() != nil {
		return
	}
	data := [3]uint64(then[:3])
	switch {
	case data == own:
		if then[3] == now[3] {
			return
		}
	case own == [3]uint64{}: // a rank that has read nothing cannot compare
		o.earlier = data
		return
	default:
		c.FailWith(&ProvenanceError{rank, describe(data), describe(own)})
		return
	}
	c.FailWith(&ProvenanceError{rank, fmt.Sprintf("a model of CRC %08x", then[3]), fmt.Sprintf("one of CRC %08x", now[3])})
}

// SkipProvenance skips what [Provenance.Code] writes, for a reader that takes only other parts of a record.
func SkipProvenance(c *snapshot.Coder) {
	for range 4 {
		var skipped uint64
		c.U64("what a lost rank has read", &skipped)
	}
}

// describe formats the identity of a shard.
func describe(d [3]uint64) string {
	return fmt.Sprintf("%d examples in %d bytes (CRC %08x)", d[0], d[1], d[2])
}

// ProvenanceError means that a state was made from other data than this rank has read, or from
// another initial model.
type ProvenanceError struct {
	Rank      int
	Then, Now string
}

func (e *ProvenanceError) Error() string {
	return fmt.Sprintf("rank %d: the state to continue from was made from %s, and this rank has %s: give the same learn.Config.Data.Inputs in the same shards, and the same learn.Config.Model.Initial, or omit checkpoint.Store.Resume",
		e.Rank, e.Then, e.Now)
}
