// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"fmt"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/allreduce/spantree"
)

// MaxRecord is how long a record of AllGatherV may be.
const MaxRecord = 64 << 10

// AllReduce replaces v, on all ranks, by the reduction of the v of all ranks. It
// has the same bits everywhere and in every run. After an error v is undefined.
func (g *Group) AllReduce(ctx context.Context, v Vector, op Op) error {
	return g.AllReduceInto(ctx, v, v, op)
}

// AllReduceInto is AllReduce with the result in dst; src stays as it is, also after
// an error. dst and src have the same length and kind, and are the same memory or
// do not overlap.
func (g *Group) AllReduceInto(ctx context.Context, dst, src Vector, op Op) error {
	switch {
	case dst.n != src.n || dst.kind != src.kind:
		panic(fmt.Sprintf("BUG: allreduce: the result has %d %v, the contribution %d %v", dst.n, dst.kind, src.n, src.kind))
	case dst.data != src.data && dst.overlaps(src):
		panic("BUG: allreduce: result and contribution overlap")
	case dst.kind == Byte || dst.kind.Size() == 0 || op < Sum || op > Max:
		panic(fmt.Sprintf("BUG: allreduce: %v of %v", op, dst.kind))
	}
	if err := g.enter(ctx, (dst.kind == Float32 && op == Sum)); err != nil {
		return err
	}
	defer g.busy.Store(false)
	to, from := dst.bytes(), src.bytes()
	if g.cfg.Total == 1 {
		copy(to, from)
		return nil
	}
	if g.Stream() && len(to) == 0 {
		return nil // in vw's stream an empty vector is nothing at all
	}
	return g.reduce(ctx, g.call(verbAllReduce, dst, op), to, from)
}

// Broadcast replaces v, on all ranks, by the v of root.
func (g *Group) Broadcast(ctx context.Context, v Vector, root int) error {
	if root < 0 || root >= g.cfg.Total {
		panic(fmt.Sprintf("BUG: allreduce: broadcast from rank %d of %d", root, g.cfg.Total))
	}
	if err := g.enter(ctx, false); err != nil {
		return err
	}
	defer g.busy.Store(false)
	if g.cfg.Total == 1 {
		return nil
	}
	b := v.bytes()
	id := g.call(verbBroadcast, v, 0)
	id.root = int32(root)
	return g.run(ctx, id, g.progs.broadcast(root, len(b)), b, b)
}

// Barrier returns when all ranks have called it.
func (g *Group) Barrier(ctx context.Context) error {
	if err := g.enter(ctx, false); err != nil {
		return err
	}
	defer g.busy.Store(false)
	if g.cfg.Total == 1 {
		return nil
	}
	return g.reduce(ctx, g.call(verbBarrier, Vec([]uint32(nil)), Sum), nil, nil)
}

// records are the buffers of AllGatherV.
type records struct {
	sizes   []uint32
	offsets []int
	all     []byte
}

// AllGatherV brings the record src of every rank, up to MaxRecord bytes, to all
// ranks. It returns dst with one record per rank, in the memory that dst had where
// that is enough.
func (g *Group) AllGatherV(ctx context.Context, dst [][]byte, src []byte) ([][]byte, error) {
	if len(src) > MaxRecord {
		return dst, fmt.Errorf("allreduce: rank %d: a record of %d bytes, the limit is %d", g.cfg.Rank, len(src), MaxRecord)
	}
	if err := g.enter(ctx, false); err != nil {
		return dst, err
	}
	defer g.busy.Store(false)
	for len(dst) < g.cfg.Total {
		dst = append(dst, nil)
	}
	dst = dst[:g.cfg.Total]
	if g.cfg.Total == 1 {
		dst[0] = append(dst[0][:0], src...)
		return dst, nil
	}
	if err := g.gather(ctx, src); err != nil {
		return dst, err
	}
	r := &g.records
	for rank := range dst {
		dst[rank] = append(dst[rank][:0], r.all[r.offsets[rank]:r.offsets[rank+1]]...)
	}
	return dst, nil
}

// gather exchanges the sizes, then the records.
func (g *Group) gather(ctx context.Context, src []byte) error {
	r, n := &g.records, g.cfg.Total
	if r.sizes == nil {
		r.sizes, r.offsets = make([]uint32, n), make([]int, n+1)
	}
	clear(r.sizes)
	r.sizes[g.cfg.Rank] = uint32(len(src))
	v := Vec(r.sizes).Named("sizes of records")
	if err := g.reduce(ctx, g.call(verbSizes, v, Sum), v.bytes(), v.bytes()); err != nil {
		return err
	}
	for rank, size := range r.sizes {
		if size > MaxRecord {
			return fmt.Errorf("allreduce: rank %d: rank %d has a record of %d bytes, the limit is %d", g.cfg.Rank, rank, size, MaxRecord)
		}
		r.offsets[rank+1] = r.offsets[rank] + int(size)
	}
	if total := r.offsets[n]; cap(r.all) < total {
		r.all = make([]byte, total)
	} else {
		r.all = r.all[:total]
	}
	copy(r.all[r.offsets[g.cfg.Rank]:], src)
	return g.run(ctx, g.call(verbGather, Vec(r.all).Named("records"), 0), g.progs.gather(r.offsets), r.all, r.all)
}

// enter begins a collective: the job is wired if it was not yet, and the
// collective exists in vw's stream if that is spoken. The caller ends it by
// clearing busy.
func (g *Group) enter(ctx context.Context, inStream bool) error {
	if !g.busy.CompareAndSwap(false, true) {
		panic("BUG: allreduce: a collective was called while another one of the same group is under way")
	}
	err := g.ready(ctx)
	if err == nil && g.Stream() && !inStream {
		err = fmt.Errorf("rank %d: %w", g.cfg.Rank, errStreamOnly)
	}
	if err != nil {
		g.busy.Store(false)
	}
	return err
}

func (g *Group) ready(ctx context.Context) error {
	if g.isClosed() {
		return ErrClosed
	}
	if g.wiring != nil {
		return nil
	}
	return g.Ready(ctx, spantree.Shard{})
}

// call identifies a collective over v.
func (g *Group) call(verb verb, v Vector, op Op) callID {
	return callID{
		epoch: g.wiring.Epoch, verb: verb, kind: v.kind, op: op,
		part: uint32(g.engine.part), length: uint64(v.n), root: -1, name: v.name,
	}
}

func (g *Group) reduce(ctx context.Context, id callID, dst, src []byte) error {
	return g.run(ctx, id, g.progs.allReduce(len(dst)), dst, src)
}

func (g *Group) run(ctx context.Context, id callID, p *schedule.Program, dst, src []byte) error {
	if g.engine.run(ctx, id, p, dst, src) == nil {
		return nil
	}
	return g.failed()
}
