// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"slices"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/internal/members"
	"github.com/gvw-project/gvw/internal/shm"
)

// maxPlans limits the programs that a rank keeps.
const maxPlans = 64

// Plans makes the programs of a rank, and keeps them: a repeated collective allocates
// nothing. Programs are computed for positions and used with ranks.
type Plans struct {
	rank    int           // the position of this rank; programs are computed for positions
	live    members.Set   // translates the positions of a finished program into ranks
	tree    schedule.Tree // of records; in a job with vw workers, of everything
	stream  bool
	Hosts   [][]int // the ranks that share memory, by machine; nil: no ranks do
	kept    map[PlanKey]plan
	offsets []int // of records
	records *schedule.Program
	pairs   *schedule.Program // nil: not made yet
}

// PlanKey determines a program.
type PlanKey struct {
	Verb     Verb
	Spec     schedule.Spec
	Root     int
	To, From int // of VerbSendRecv: positions, and bytes in each direction
	Out, In  int
}

// plan is a program, and the schedule that was chosen for an all-reduce.
type plan struct {
	Prog     *schedule.Program
	Name     schedule.Name
	Programs []shm.Program // of an all-reduce, where the ranks share memory
	Part     bool          // this host's sum is only a part, and Prog joins it with other hosts' sums
}

// NewPlans returns the plans of a rank in the tree t. With stream they are those of vw.
func NewPlans(t schedule.Tree, rank int, live members.Set, stream bool) Plans {
	return Plans{rank: rank, live: live, tree: t, stream: stream, kept: map[PlanKey]plan{}}
}

// Get returns the plan of a key.
func (p *Plans) Get(k PlanKey) plan {
	if got, ok := p.kept[k]; ok {
		return got
	}
	if len(p.kept) == maxPlans {
		clear(p.kept) // most jobs have few sizes; a job with many makes its plans again
	}
	made := p.make(k)
	made.Prog = p.named(made.Prog)
	p.kept[k] = made
	return made
}

func (p *Plans) make(k PlanKey) plan {
	s := k.Spec
	switch k.Verb {
	case VerbAllReduce, VerbSizes:
		if p.stream {
			return plan{Prog: schedule.PipelinedTree(p.tree, p.rank, s.Bytes), Name: schedule.VWTree}
		}
		if s.Schedule == schedule.Auto {
			s.Schedule = s.Pick()
		}
		if len(p.Hosts) > 0 && s.Bytes > 0 {
			return p.makeShared(s)
		}
		return plan{Prog: s.AllReduce(p.rank), Name: s.Schedule}
	case VerbReduce:
		return plan{Prog: s.Reduce(k.Root, p.rank)}
	case VerbReduceScatter:
		return plan{Prog: s.ReduceScatter(p.rank)}
	case VerbBroadcast:
		return plan{Prog: s.Broadcast(k.Root, p.rank)}
	case VerbAllGather:
		return plan{Prog: s.AllGather(nil, p.rank)}
	case VerbGather:
		return plan{Prog: s.Gather(k.Root, nil, p.rank)}
	case VerbScatter:
		return plan{Prog: s.Scatter(k.Root, nil, p.rank)}
	case VerbBarrier:
		return plan{Prog: s.Barrier(p.rank)}
	case VerbSendRecv:
		return plan{Prog: schedule.SendRecv(s.Size, p.rank, k.To, k.Out, k.From, k.In)}
	}
	panic(fmt.Sprintf("BUG: allreduce: no program for %v", k.Verb))
}

// Gather returns the program of an all-gather of records along the tree, whose edges are open. The
// program is kept: records often have the lengths of the last time.
func (p *Plans) Gather(offsets []int) *schedule.Program {
	if p.records == nil || !slices.Equal(offsets, p.offsets) {
		p.offsets = append(p.offsets[:0], offsets...)
		p.records = p.named(schedule.TreeAllGatherV(p.tree, p.rank, p.offsets))
	}
	return p.records
}

// SendRecvArgs returns the program that gathers the SendRecv arguments of all ranks on all ranks.
func (p *Plans) SendRecvArgs() *schedule.Program {
	if p.pairs == nil {
		offsets := make([]int, p.tree.Size()+1)
		for at := range offsets {
			offsets[at] = 8 * SendRecvWords * at
		}
		p.pairs = p.named(schedule.TreeAllGatherV(p.tree, p.rank, offsets))
	}
	return p.pairs
}

// Agree returns the program of a small all-reduce along the tree, whose edges are open.
func (p *Plans) Agree(bytes int) *schedule.Program {
	return p.named(schedule.PipelinedTree(p.tree, p.rank, bytes))
}

// named returns a program for positions as one for ranks.
func (p *Plans) named(prog *schedule.Program) *schedule.Program {
	if prog == nil || len(p.live) == 0 || p.live[len(p.live)-1] == len(p.live)-1 {
		return prog // all ranks are live, so positions are ranks
	}
	return prog.Among(p.live)
}
