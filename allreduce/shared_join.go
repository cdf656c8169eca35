// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/allreduce/transport"
)

// The ranks of a job tell each other by a maximum over 64-bit words whether they
// can meet in a segment. The words of rank 0 say where it is; those of the others are 0
// there.
const (
	offerRefused = iota // 1: by a rank that does not want to
	offerMachine        // the machine, and
	offerNot            // all its bits turned around: both agree if all ranks do
	offerPlace          // process and descriptor
	offerBytes          // 0: there is no segment
	offerArena
	offerNonce // two words
	offerWords = offerNonce + 2
)

// segments is where segments come from.
type segments struct {
	make func(bytes int, arena int64) (*transport.Segment, error)
	open func(w transport.Where) (*transport.Segment, error)
}

// share finds out whether all ranks run on this machine, and if so opens the segment
// through which they all-reduce. That they do not is no error: then it is TCP.
//
// Whether the ranks talk about it at all follows from their addresses, which all know.
func (g *Group) share(ctx context.Context) error {
	if g.Stream() || g.cfg.Total > sharedRanks || !oneHost(g.wiring.Peers) {
		return nil
	}
	if g.busy.CompareAndSwap(false, true) { // else a collective has called Ready
		defer g.busy.Store(false)
	}
	offer := make([]uint64, offerWords)
	seg := g.offer(offer)
	if seg != nil {
		defer seg.Hide()
	}
	mine := offer[offerMachine]
	err := g.agree(ctx, offer, Max)
	if err != nil || offer[offerRefused] != 0 || offer[offerMachine] != mine || offer[offerNot] != ^mine || offer[offerBytes] == 0 {
		closeSegment(seg)
		return err
	}
	open := []uint64{1}
	if seg == nil {
		if seg, err = g.open(whereOf(offer)); err != nil {
			open[0] = 0
			g.log.Warn("no shared memory between the ranks, TCP instead", "rank", g.cfg.Rank, "error", err)
		}
	}
	if err := g.agree(ctx, open, Min); err != nil || open[0] == 0 {
		closeSegment(seg)
		return err
	}
	g.engine.mu.Lock()
	defer g.engine.mu.Unlock()
	if g.engine.ending {
		closeSegment(seg)
		return ErrClosed
	}
	g.engine.shared = newShared(&g.engine, seg, g.cfg.Total)
	g.plans.shared = true
	return nil
}

// oneHost says that all ranks have the same host in their addresses. They may be on
// different machines all the same.
func oneHost(peers []string) bool {
	var first string
	for i, addr := range peers {
		host, _, err := net.SplitHostPort(addr)
		if i == 0 {
			first = host
		}
		if err != nil || host != first {
			return false
		}
	}
	return len(peers) > 1
}

// offer fills in what this rank says. Rank 0 makes the segment.
func (g *Group) offer(words []uint64) *transport.Segment {
	if g.cfg.NoSharedMemory {
		words[offerRefused] = 1
		return nil
	}
	machine, err := transport.Machine()
	if err != nil {
		words[offerRefused] = 1
		return nil
	}
	words[offerMachine] = fnv(fnvOffset, machine)
	words[offerNot] = ^words[offerMachine]
	if g.cfg.Rank != 0 {
		return nil
	}
	_, bytes := sharedLayout(g.cfg.Total)
	seg, err := g.segments.make(bytes, sharedArena)
	if err != nil {
		g.log.Warn("no shared memory between the ranks, TCP instead", "rank", g.cfg.Rank, "error", err)
		return nil
	}
	w := seg.Where()
	words[offerPlace] = uint64(uint32(w.PID))<<32 | uint64(uint32(w.FD))
	words[offerBytes], words[offerArena] = uint64(w.Bytes), uint64(w.Arena)
	words[offerNonce] = binary.LittleEndian.Uint64(w.Nonce[:])
	words[offerNonce+1] = binary.LittleEndian.Uint64(w.Nonce[8:])
	return seg
}

// open opens rank 0's segment, if it is as long as this rank needs.
func (g *Group) open(w transport.Where) (*transport.Segment, error) {
	if _, bytes := sharedLayout(g.cfg.Total); w.Bytes != int64(bytes)+transport.SegmentHead {
		return nil, fmt.Errorf("rank 0's segment has %d bytes, want %d: is it another version of this program?", w.Bytes, bytes+transport.SegmentHead)
	}
	return g.segments.open(w)
}

// whereOf is where the segment is.
func whereOf(words []uint64) (w transport.Where) {
	w.PID, w.FD = int32(words[offerPlace]>>32), int32(words[offerPlace])
	w.Bytes, w.Arena = int64(words[offerBytes]), int64(words[offerArena])
	binary.LittleEndian.PutUint64(w.Nonce[:], words[offerNonce])
	binary.LittleEndian.PutUint64(w.Nonce[8:], words[offerNonce+1])
	return w
}

func closeSegment(s *transport.Segment) {
	if s != nil {
		s.Close()
	}
}

// agree reduces v along the tree, whose edges are open.
func (g *Group) agree(ctx context.Context, v []uint64, op Op) error {
	vec := Vec(v).Named("shared memory")
	b := vec.bytes()
	c := collective{verb: verbAllReduce, v: vec, op: op, root: noRoot, dst: b, src: b}
	err := g.run(ctx, g.call(c, schedule.BinaryTree), schedule.PipelinedTree(g.plans.tree, g.plans.rank, len(b)), b, b)
	if err != nil {
		return fmt.Errorf("finding out who shares memory: %w", err)
	}
	return nil
}

// SharedMemory tells that the ranks all-reduce in memory that they share: all run on
// one machine. It is known after Ready.
func (g *Group) SharedMemory() bool {
	en := &g.engine
	en.mu.Lock()
	defer en.mu.Unlock()
	return en.shared != nil
}
