// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"slices"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/internal/shm"
)

// The ranks of a job tell each other by a maximum over 64-bit words whether those of a
// host can meet in a segment. Each host has so many words. Those of its first rank say
// where the segment is; those of the others are 0 there, and those of other hosts
// everywhere.
const (
	offerRefused = iota // 1: by a rank that does not want to
	offerMachine        // the machine, and
	offerNot            // all its bits turned around: both agree if all ranks of the host do
	offerPlace          // process and descriptor
	offerBytes          // 0: there is no segment
	offerArena
	offerNonce // two words
	offerWords = offerNonce + 2
)

// share finds out which ranks run on one machine, and if this rank has such neighbours, opens
// the segment through which they all-reduce. That there is none is no error: then
// it is TCP.
//
// Who may share memory follows from the addresses of all ranks, which all know.
func (g *Group) share(ctx context.Context) error {
	if g.Stream() {
		return nil
	}
	hosts := hostsOf(g.wiring.Peers)
	if len(hosts) == 0 {
		return nil
	}
	if g.busy.CompareAndSwap(false, true) { // else a collective has called Ready
		defer g.busy.Store(false)
	}
	self := slices.IndexFunc(hosts, func(h []int) bool { return slices.Contains(h, g.cfg.Rank) })
	offers := make([]uint64, len(hosts)*offerWords)
	offerOf := func(host int) []uint64 { return offers[host*offerWords:][:offerWords] }
	var seg *shm.Segment
	if self >= 0 {
		seg = g.offer(offerOf(self), hosts[self])
	}
	defer func() {
		if seg != nil {
			seg.Close()
		}
	}()
	if err := g.agree(ctx, offers, Max, "shared memory"); err != nil {
		return err
	}
	open, some := make([]uint64, len(hosts)), false
	for i := range open {
		o := offerOf(i)
		if o[offerRefused] == 0 && o[offerMachine] == ^o[offerNot] && o[offerBytes] > 0 {
			open[i], some = 1, true
		}
	}
	if !some {
		return nil
	}
	var err error
	if self >= 0 && open[self] == 1 && seg == nil {
		if seg, err = g.open(whereOf(offerOf(self)), hosts[self]); err != nil {
			open[self] = 0
			g.log.Warn("no shared memory between the ranks, TCP instead", "rank", g.cfg.Rank, "error", err)
		}
	}
	if err := g.agree(ctx, open, Min, "shared memory"); err != nil {
		return err
	}
	for i, host := range hosts {
		if open[i] == 1 {
			at := make([]int, len(host))
			for k, rank := range host {
				at[k] = g.live.Position(rank)
			}
			g.plans.Hosts = append(g.plans.Hosts, at)
		}
	}
	if self < 0 || open[self] == 0 {
		return nil
	}
	g.engine.Mu.Lock()
	defer g.engine.Mu.Unlock()
	if g.engine.Ending {
		return ErrClosed
	}
	seg.Unlink()
	g.engine.Shared = shm.NewGroup(&g.engine, g.engine.Failed, seg, g.cfg.Rank, hosts[self])
	seg = nil
	return nil
}

// hostsOf are the ranks that have the same host in their addresses, 2 to SharedRanks of them,
// in the order of their first ones. They may be on different machines all the same.
func hostsOf(peers []string) (hosts [][]int) {
	byHost := map[string][]int{}
	for rank, addr := range peers {
		if host, _, err := net.SplitHostPort(addr); err == nil {
			byHost[host] = append(byHost[host], rank)
		}
	}
	for _, ranks := range byHost {
		if len(ranks) > 1 && len(ranks) <= shm.MaxRanks {
			hosts = append(hosts, ranks)
		}
	}
	slices.SortFunc(hosts, func(a, b []int) int { return a[0] - b[0] })
	return hosts
}

// offer fills in what this rank says. The first rank of a host makes the segment.
func (g *Group) offer(words []uint64, host []int) *shm.Segment {
	if g.cfg.NoSharedMemory {
		words[offerRefused] = 1
		return nil
	}
	machine, err := shm.Machine()
	if err != nil {
		words[offerRefused] = 1
		return nil
	}
	words[offerMachine] = engine.Fnv(engine.FnvOffset, machine)
	words[offerNot] = ^words[offerMachine]
	if g.cfg.Rank != host[0] {
		return nil
	}
	_, bytes := shm.Layout(len(host))
	seg, err := g.segments.Make(bytes, shm.ArenaBytes)
	if err != nil {
		g.log.Warn("no shared memory between the ranks, TCP instead", "rank", g.cfg.Rank, "error", err)
		return nil
	}
	w := seg.Location()
	words[offerPlace] = uint64(uint32(w.PID))<<32 | uint64(uint32(w.FD))
	words[offerBytes], words[offerArena] = uint64(w.Bytes), uint64(w.Arena)
	words[offerNonce] = binary.LittleEndian.Uint64(w.Nonce[:])
	words[offerNonce+1] = binary.LittleEndian.Uint64(w.Nonce[8:])
	return seg
}

// open opens the segment of the host's first rank, if it is as long as this rank needs.
func (g *Group) open(w shm.Location, host []int) (*shm.Segment, error) {
	if _, bytes := shm.Layout(len(host)); w.Bytes != int64(bytes)+shm.SegmentHead {
		return nil, fmt.Errorf("rank %d's segment has %d bytes, want %d: is it another version of this program?", host[0], w.Bytes, bytes+shm.SegmentHead)
	}
	return g.segments.Open(w)
}

// whereOf is where the segment is.
func whereOf(words []uint64) (w shm.Location) {
	w.PID, w.FD = int32(words[offerPlace]>>32), int32(words[offerPlace])
	w.Bytes, w.Arena = int64(words[offerBytes]), int64(words[offerArena])
	binary.LittleEndian.PutUint64(w.Nonce[:], words[offerNonce])
	binary.LittleEndian.PutUint64(w.Nonce[8:], words[offerNonce+1])
	return w
}

// agree reduces v along the tree, whose edges are open, to find out who has something.
func (g *Group) agree(ctx context.Context, v []uint64, op Op, something string) error {
	vec := Vec(v).Named(something)
	b := vec.bytes()
	c := collective{verb: engine.VerbAllReduce, v: vec, op: op, root: noRoot, dst: b, src: b}
	err := g.run(ctx, g.call(c, schedule.BinaryTree), g.plans.Agree(len(b)), b, b)
	if err != nil {
		return fmt.Errorf("finding out who has %s: %w", something, err)
	}
	return nil
}

// SharedMemory tells that all ranks all-reduce in memory that they share: they run on
// one machine. It is known after Ready.
func (g *Group) SharedMemory() bool { return len(g.SharedWith()) == g.Size() && g.Size() > 1 }

// SharedWith are the ranks, this one among them, that share memory on this rank's machine; nil:
// it shares none. Where there are other machines, they sum among themselves
// first whenever the schedule adds them as a whole. It is known after Ready.
func (g *Group) SharedWith() []int {
	if s := g.sharing(); s != nil {
		return slices.Clone(s.Ranks)
	}
	return nil
}

// SharedCalls is how many all-reduces have gone through shared memory, all or in part.
func (g *Group) SharedCalls() uint64 {
	if s := g.sharing(); s != nil {
		return s.Done.Load()
	}
	return 0
}

func (g *Group) sharing() *shm.Group {
	en := &g.engine
	en.Mu.Lock()
	defer en.Mu.Unlock()
	return en.Shared
}
