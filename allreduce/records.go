// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"fmt"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/allreduce/schedule"
)

// MaxRecord is the limit on a record of AllGatherV, in bytes.
const MaxRecord = 64 << 10

// records has the buffers of AllGatherV, which later calls use again.
type records struct {
	sizes   []uint32 // by position, in bytes
	offsets []int    // of each record in all, and the end of the last one
	all     []byte   // the records of all ranks
}

// AllGatherV sends the record src of every rank, at most MaxRecord bytes, to all ranks. It
// returns dst with one record per live rank, in the order of their numbers. The memory of dst
// and its records is used again where it is large enough.
func (g *Group) AllGatherV(ctx context.Context, dst [][]byte, src []byte) ([][]byte, error) {
	if len(src) > MaxRecord {
		return dst, fmt.Errorf("allreduce: rank %d: a record of %d bytes, the limit is %d", g.cfg.Rank, len(src), MaxRecord)
	}
	if err := g.enter(ctx, engine.VerbRecords, false); err != nil {
		return dst, err
	}
	defer g.busy.Store(false)
	for len(dst) < g.Size() {
		dst = append(dst, nil)
	}
	dst = dst[:g.Size()]
	if g.Size() == 1 {
		dst[0] = append(dst[0][:0], src...)
		return dst, nil
	}
	if err := g.gather(ctx, src); err != nil {
		return dst, err
	}
	r := &g.records
	for at := range dst {
		dst[at] = append(dst[at][:0], r.all[r.offsets[at]:r.offsets[at+1]]...)
	}
	return dst, nil
}

// gather exchanges the sizes by a sum, to which each rank contributes its own size and zeros,
// then the records.
func (g *Group) gather(ctx context.Context, src []byte) error {
	r, n, self := &g.records, g.Size(), g.epoch.Live.Position(g.cfg.Rank)
	if len(r.sizes) != n {
		r.sizes, r.offsets = make([]uint32, n), make([]int, n+1)
	}
	clear(r.sizes)
	r.sizes[self] = uint32(len(src))
	began := g.timeline.Now()
	v := Vec(r.sizes).Named("sizes of records")
	c := g.call(engine.VerbSizes, v, schedule.None)
	c.Op = Sum
	if err := g.epoch.Carry(ctx, c); err != nil {
		return err
	}
	for at, size := range r.sizes {
		if size > MaxRecord {
			return fmt.Errorf("allreduce: rank %d: rank %d has a record of %d bytes, the limit is %d", g.cfg.Rank, g.epoch.Live.Rank(at), size, MaxRecord)
		}
		r.offsets[at+1] = r.offsets[at] + int(size)
	}
	if total := r.offsets[n]; cap(r.all) < total {
		r.all = make([]byte, total)
	} else {
		r.all = r.all[:total]
	}
	copy(r.all[r.offsets[self]:], src)
	c = g.call(engine.VerbRecords, Vec(r.all).Named("records"), schedule.None)
	defer g.record(c, began)
	return g.epoch.CarryRecords(ctx, c, r.offsets)
}
