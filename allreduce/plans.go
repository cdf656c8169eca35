// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"fmt"
	"slices"

	"github.com/gvw-project/gvw/allreduce/schedule"
)

// maxPlans bounds how many programs a rank keeps.
const maxPlans = 64

// plans makes the programs of a rank, and keeps them, so that a collective
// allocates nothing when it comes again.
type plans struct {
	rank    int           // the position of this rank; all here goes by positions
	live    lineup        // and the programs that come out of it by ranks
	tree    schedule.Tree // of records; in a job with vw workers, of everything
	stream  bool
	hosts   [][]int // who shares memory, by machine; nil: nobody does
	kept    map[planKey]plan
	offsets []int // of records
	records *schedule.Program
	pairs   *schedule.Program // nil: not made yet
}

// planKey is what a program follows from.
type planKey struct {
	verb     verb
	spec     schedule.Spec
	root     int
	to, from int // of verbSendRecv: whom to, and how many bytes
	out, in  int
}

// plan is a program, and the schedule that an all-reduce has got.
type plan struct {
	prog  *schedule.Program
	name  schedule.Name
	codes []sumCode // of an all-reduce, where the ranks share memory
	part  bool      // what they share is a part of the sum; prog joins it with the others'
}

func newPlans(t schedule.Tree, rank int, live lineup, stream bool) plans {
	return plans{rank: rank, live: live, tree: t, stream: stream, kept: map[planKey]plan{}}
}

// get is the plan of a key.
func (p *plans) get(k planKey) plan {
	if got, ok := p.kept[k]; ok {
		return got
	}
	if len(p.kept) == maxPlans {
		clear(p.kept) // a job has few sizes; who has many pays for the making
	}
	made := p.make(k)
	made.prog = p.live.named(made.prog)
	p.kept[k] = made
	return made
}

func (p *plans) make(k planKey) plan {
	s := k.spec
	switch k.verb {
	case verbAllReduce, verbSizes:
		if p.stream {
			return plan{prog: schedule.PipelinedTree(p.tree, p.rank, s.Bytes), name: schedule.VWTree}
		}
		if s.Schedule == schedule.Auto {
			s.Schedule = s.Pick()
		}
		if len(p.hosts) > 0 && s.Bytes > 0 {
			return p.makeShared(s)
		}
		return plan{prog: s.AllReduce(p.rank), name: s.Schedule}
	case verbReduce:
		return plan{prog: s.Reduce(k.root, p.rank)}
	case verbReduceScatter:
		return plan{prog: s.ReduceScatter(p.rank)}
	case verbBroadcast:
		return plan{prog: s.Broadcast(k.root, p.rank)}
	case verbAllGather:
		return plan{prog: s.AllGather(nil, p.rank)}
	case verbGather:
		return plan{prog: s.Gather(k.root, nil, p.rank)}
	case verbScatter:
		return plan{prog: s.Scatter(k.root, nil, p.rank)}
	case verbBarrier:
		return plan{prog: s.Barrier(p.rank)}
	case verbSendRecv:
		return plan{prog: schedule.SendRecv(s.Size, p.rank, k.to, k.out, k.from, k.in)}
	}
	panic(fmt.Sprintf("BUG: allreduce: no program for %v", k.verb))
}

// gather is the program of an all-gather of records, along the tree, whose edges are
// open. Records are often as long as those of the last time.
func (p *plans) gather(offsets []int) *schedule.Program {
	if p.records == nil || !slices.Equal(offsets, p.offsets) {
		p.offsets = append(p.offsets[:0], offsets...)
		p.records = p.live.named(schedule.TreeAllGatherV(p.tree, p.rank, p.offsets))
	}
	return p.records
}

// pairUp is the program that brings the pairs of all ranks to all.
func (p *plans) pairUp() *schedule.Program {
	if p.pairs == nil {
		offsets := make([]int, p.tree.Size()+1)
		for at := range offsets {
			offsets[at] = 8 * pairWords * at
		}
		p.pairs = p.live.named(schedule.TreeAllGatherV(p.tree, p.rank, offsets))
	}
	return p.pairs
}

// agree is the program of a small all-reduce along the tree.
func (p *plans) agree(bytes int) *schedule.Program {
	return p.live.named(schedule.PipelinedTree(p.tree, p.rank, bytes))
}
