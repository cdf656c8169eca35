// SPDX-License-Identifier: Apache-2.0

package epoch

import (
	"context"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/internal/kernels"
	"github.com/gvw-project/gvw/internal/shm"
)

// Collective is one call.
type Collective struct {
	Verb     engine.Verb
	Kind     kernels.Kind // of the elements, of which the whole vector has N
	N        int
	Name     string // of the vector, for messages
	Op       kernels.Op
	Schedule schedule.Name // of an all-reduce; Auto chooses
	Root     int           // a rank; schedule.None: the collective has none
	Dst, Src []byte        // this rank's result and contribution; the same memory if in place
	From, To int           // ranks, or schedule.None for a half that is left out; only for VerbSendRecv
}

// Carry carries out a collective. Plans are made in positions among the live ranks, not in ranks, so
// that the plan is the same before and after a loss.
func (e *Epoch) Carry(ctx context.Context, c Collective) error {
	p := e.Plans.Get(e.key(c))
	if p.Programs == nil {
		return e.run(ctx, e.call(c, p.Name), p.Prog, c.Dst, c.Src)
	}
	t := shm.Task{Kind: c.Kind, Op: c.Op, Dst: c.Dst, Src: c.Src, Programs: p.Programs, Part: p.Part}
	if p.Part {
		t.Among = p.Prog
	}
	if e.Engine.ReduceShared(ctx, e.call(c, p.Name), t) == nil {
		return nil
	}
	return e.Err(ctx)
}

// key returns the key of the collective's plan.
func (e *Epoch) key(c Collective) engine.PlanKey {
	k := engine.PlanKey{Verb: c.Verb, Root: e.Live.Position(c.Root), Spec: schedule.Spec{
		Size: len(e.Live), Bytes: len(c.Dst), Elem: c.Kind.Size(), Chunk: e.cfg.Chunk,
	}}
	switch c.Verb {
	case engine.VerbAllReduce:
		k.Spec.Ordered = !kernels.Commutes(c.Op)
		k.Spec.Schedule = c.Schedule
		if k.Spec.Ordered && !c.Schedule.Ordered() {
			k.Spec.Schedule = schedule.Auto // a ring would change the order of the operands
		}
	case engine.VerbReduceScatter:
		k.Spec.Ordered = !kernels.Commutes(c.Op)
	case engine.VerbSendRecv:
		k.Spec.Bytes, k.Spec.Elem = 0, 0
		k.To, k.Out, k.From, k.In = e.Live.Position(c.To), len(c.Src), e.Live.Position(c.From), len(c.Dst)
	}
	return k
}

// CarryRecords carries out an all-gather of records along the tree. The record at position i is
// c.Dst[offsets[i]:offsets[i+1]].
func (e *Epoch) CarryRecords(ctx context.Context, c Collective, offsets []int) error {
	return e.run(ctx, e.call(c, 0), e.Plans.Gather(offsets), c.Dst, c.Src)
}

// CarryArgs gathers the arguments of all ranks to SendRecv along the tree.
func (e *Epoch) CarryArgs(ctx context.Context, c Collective) error {
	return e.run(ctx, e.call(c, 0), e.Plans.SendRecvArgs(), c.Dst, c.Src)
}

// call returns the identity of a collective, which neighbours compare before any data.
func (e *Epoch) call(c Collective, name schedule.Name) engine.CallID {
	id := engine.CallID{
		Epoch: e.Wiring.Epoch, Verb: c.Verb, Kind: c.Kind, Op: c.Op, Schedule: name,
		Part: uint32(e.Engine.Part), Length: uint64(c.N), Root: int32(c.Root), Name: c.Name,
	}
	if own := kernels.Lookup(c.Op); own != nil {
		id.Own = own.Name
	}
	return id
}

func (e *Epoch) run(ctx context.Context, id engine.CallID, p *schedule.Program, dst, src []byte) error {
	if e.Engine.Run(ctx, id, p, dst, src) == nil {
		return nil
	}
	return e.Err(ctx)
}
