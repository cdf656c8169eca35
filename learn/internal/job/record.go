// SPDX-License-Identifier: Apache-2.0

package job

import (
	"fmt"

	"github.com/gvw-project/gvw/internal/wire"
	"github.com/gvw-project/gvw/learn/internal/vwtext"
	"github.com/gvw-project/gvw/loss"
)

// Record is what one rank sends to all others at the end of each step. It has everything that
// vw keeps local to a rank and that the model file, the summary or a common decision needs. It
// counts what this rank has added in this run. The sums of a loaded model are the same on all
// ranks and are counted once, elsewhere.
//
//	offset  size  field, little-endian
//	     0     4  recordVersion
//	     4     4  flags: bit 0 Labels.More
//	     8  8·11  the float64 of fields(), in that order
//	    96   4·4  range min, range max, first label, second label (float32)
//	   112   8·2  examples, features (uint64)
//	   128     …  in a job that recovers: what a replacement of the rank needs
//	              besides (Job.Own)
type Record struct {
	Stats       vwtext.Stats
	Nsx         float64 // Σ weight·Σ(x/N)², of the normalised rule
	TotalWeight float64 // weight of the examples in Nsx
	Range       loss.Range
}

const (
	recordVersion = 1
	RecordSize    = 128
)

// fields returns the float64 of a record in the order of the wire form.
func (r *Record) fields() [11]*float64 {
	s, h := &r.Stats, &r.Stats.Holdout
	return [11]*float64{
		&s.Labeled, &s.Unlabeled, &s.Labels, &s.Loss, &s.T,
		&h.Weight, &h.Loss, &h.PassWeight, &h.PassLoss,
		&r.Nsx, &r.TotalWeight,
	}
}

// floats returns its float32, likewise.
func (r *Record) floats() [4]*float32 {
	return [4]*float32{&r.Range.Min, &r.Range.Max, &r.Stats.Seen.First, &r.Stats.Seen.Second}
}

// appendTo appends the wire form of r.
func (r *Record) appendTo(dst []byte) []byte {
	c := wire.Encode(dst)
	version := uint32(recordVersion)
	r.code(&c, &version)
	return c.Bytes()
}

func (r *Record) code(c *wire.Coder, version *uint32) {
	var flags uint32
	if r.Stats.Seen.More {
		flags |= 1
	}
	c.U32("version", version)
	if c.U32("flags", &flags); c.Decoding() {
		r.Stats.Seen.More = flags&1 != 0
	}
	for _, f := range r.fields() {
		c.F64("sum", f)
	}
	for _, f := range r.floats() {
		c.F32("range", f)
	}
	c.U64("examples", &r.Stats.Examples)
	c.U64("features", &r.Stats.Features)
}

// Decode decodes the record that rank has sent, and returns the bytes behind it.
func (r *Record) Decode(rank int, b []byte) (rest []byte, err error) {
	if len(b) < RecordSize {
		return nil, fmt.Errorf("learn: record of rank %d: got %d bytes, want at least %d: do all ranks run the same gvw?", rank, len(b), RecordSize)
	}
	var version uint32
	got := *r // r keeps its values if the version is another one
	c := wire.Decode(b)
	got.code(&c, &version)
	if version != recordVersion {
		return nil, fmt.Errorf("learn: record of rank %d: got version %d, want %d: do all ranks run the same gvw?", rank, version, recordVersion)
	}
	*r = got
	return c.Bytes(), c.Err()
}

// merge adds the record of the next rank. The order of the calls fixes the rounding.
func (r *Record) merge(o *Record) {
	r.Stats.Merge(&o.Stats)
	r.Nsx += o.Nsx
	r.TotalWeight += o.TotalWeight
	r.Range.Min = min(r.Range.Min, o.Range.Min)
	r.Range.Max = max(r.Range.Max, o.Range.Max)
}
