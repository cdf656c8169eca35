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

// The ranks agree on shared memory by an all-reduce with Max over 64-bit words, offerWords for
// each host. Every rank contributes to its own host's words only, and is 0 elsewhere. The words
// from offerPlace on are the location of the segment; only the host's first rank sets them.
const (
	offerRefused = iota // 1 if a rank refuses shared memory
	offerMachine        // hash of the machine's identity
	offerNot            // complement of offerMachine: both maxima match only if all ranks have one machine
	offerPlace          // process in the upper 32 bits, descriptor in the lower
	offerBytes          // length in bytes; 0: there is no segment
	offerArena          // length of the arena for Alloc, in bytes
	offerNonce          // two words, the content by which the segment is recognised
	offerWords   = offerNonce + 2
)

// share finds out which ranks run on one machine. If this rank has neighbours on its machine, it
// opens the segment through which they all-reduce. Without a segment they use TCP, which is no
// error.
//
// All ranks know the candidates, which are the ranks with equal hosts in their addresses. They
// therefore call the same collectives here.
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

// hostsOf returns the groups of 2 to shm.MaxRanks ranks with the same host in their addresses,
// in the order of their first ranks. The ranks of a group may still be on different machines,
// for example behind one address translation.
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

// offer fills in this rank's words. The first rank of a host makes the segment and returns it.
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

// open opens the segment of the host's first rank if its length is what this version expects.
func (g *Group) open(w shm.Location, host []int) (*shm.Segment, error) {
	if _, bytes := shm.Layout(len(host)); w.Bytes != int64(bytes)+shm.SegmentHead {
		return nil, fmt.Errorf("rank %d's segment has %d bytes, want %d: is it another version of this program?", host[0], w.Bytes, bytes+shm.SegmentHead)
	}
	return g.segments.Open(w)
}

// whereOf returns the location of the segment, decoded from the words of a host.
func whereOf(words []uint64) (w shm.Location) {
	w.PID, w.FD = int32(words[offerPlace]>>32), int32(words[offerPlace])
	w.Bytes, w.Arena = int64(words[offerBytes]), int64(words[offerArena])
	binary.LittleEndian.PutUint64(w.Nonce[:], words[offerNonce])
	binary.LittleEndian.PutUint64(w.Nonce[8:], words[offerNonce+1])
	return w
}

// agree reduces v along the tree, whose edges are open already. something is the capability
// that the ranks agree on, for messages.
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

// SharedMemory reports whether all ranks run on one machine and all-reduce in shared memory.
// It is valid after Ready.
func (g *Group) SharedMemory() bool { return len(g.SharedWith()) == g.Size() && g.Size() > 1 }

// SharedWith returns the ranks that share memory with this one, itself included; nil if this
// rank shares none. In a job of several machines these ranks first sum among themselves,
// wherever the schedule's order of additions permits it. It is valid after Ready.
func (g *Group) SharedWith() []int {
	if s := g.sharing(); s != nil {
		return slices.Clone(s.Ranks)
	}
	return nil
}

// SharedCalls returns the number of all-reduces of this epoch that have used shared memory, in
// whole or in part.
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
