// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"slices"

	"github.com/gvw-project/gvw/allreduce/schedule"
)

// maxPrograms bounds how many programs a rank keeps.
const maxPrograms = 64

// programs makes the programs of a rank, and keeps them, so that a collective
// allocates nothing when it comes again.
type programs struct {
	tree    schedule.Tree
	rank    int // in tree
	kept    map[progKey]*schedule.Program
	offsets []int // of gathered
	records *schedule.Program
}

// progKey is what a program follows from.
type progKey struct {
	verb  verb
	root  int
	bytes int
}

func newPrograms(t schedule.Tree, rank int) programs {
	return programs{tree: t, rank: rank, kept: map[progKey]*schedule.Program{}}
}

// get is the program of a key; build makes it.
func (p *programs) get(k progKey, build func() *schedule.Program) *schedule.Program {
	if prog := p.kept[k]; prog != nil {
		return prog
	}
	if len(p.kept) == maxPrograms {
		clear(p.kept) // a job has few sizes; who has many pays for the building
	}
	prog := build()
	p.kept[k] = prog
	return prog
}

func (p *programs) allReduce(bytes int) *schedule.Program {
	return p.get(progKey{verb: verbAllReduce, bytes: bytes}, func() *schedule.Program {
		return schedule.PipelinedTree(p.tree, p.rank, bytes)
	})
}

func (p *programs) broadcast(root, bytes int) *schedule.Program {
	return p.get(progKey{verb: verbBroadcast, root: root, bytes: bytes}, func() *schedule.Program {
		return schedule.TreeBroadcast(p.tree, p.rank, root, bytes)
	})
}

// gather is the program of an all-gather of records. Records are often as long as
// those of the last time.
func (p *programs) gather(offsets []int) *schedule.Program {
	if p.records == nil || !slices.Equal(offsets, p.offsets) {
		p.offsets = append(p.offsets[:0], offsets...)
		p.records = schedule.TreeAllGatherV(p.tree, p.rank, p.offsets)
	}
	return p.records
}
