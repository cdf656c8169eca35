// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"fmt"
)

// SendRecv sends src to the rank to, and receives dst from the rank from; Nobody
// leaves one of them out. All ranks call it, and what one sends has the length and kind
// of what the other receives: they first tell each other along the tree, so that two
// which disagree are an error on all ranks. dst and src do not overlap.
func (g *Group) SendRecv(ctx context.Context, dst Vector, from int, src Vector, to int) error {
	if from != Nobody {
		g.checkRoot(verbSendRecv, from)
	}
	if to != Nobody {
		g.checkRoot(verbSendRecv, to)
	}
	self := g.cfg.Rank
	switch {
	case dst.overlaps(src):
		panic("BUG: allreduce: what is sent and what is received overlap")
	case (from == self) != (to == self) || from == self && (dst.n != src.n || dst.kind != src.kind):
		panic(fmt.Sprintf("BUG: allreduce: rank %d sends itself %d %v, and receives %d %v of rank %d", self, src.n, src.kind, dst.n, dst.kind, from))
	case from == self:
		copy(dst.bytes(), src.bytes())
		from, to = Nobody, Nobody
	}
	if err := g.enter(ctx, false); err != nil {
		return err
	}
	defer g.busy.Store(false)
	if g.Size() == 1 {
		return nil
	}
	own := pair{to: int64(to), from: int64(from)}
	c := collective{verb: verbSendRecv, v: Vec([]byte(nil)).Named(src.name), root: noRoot, from: from, to: to}
	if from != Nobody {
		c.dst, own.in, own.inKind = dst.bytes(), int64(dst.n), int64(dst.kind)
	}
	if to != Nobody {
		c.src, own.out, own.outKind = src.bytes(), int64(src.n), int64(src.kind)
	}
	if err := g.pairUp(ctx, own, c.v); err != nil {
		return err
	}
	return g.carry(ctx, c)
}

// pair is what one rank says in SendRecv, as it crosses the wire.
type pair struct {
	to, from        int64 // -1: nobody
	out, in         int64 // elements
	outKind, inKind int64
}

// pairWords is how many numbers a pair is.
const pairWords = 6

func (p *pair) put(b []int64) {
	b[0], b[1], b[2], b[3], b[4], b[5] = p.to, p.from, p.out, p.in, p.outKind, p.inKind
}

func pairOf(b []int64) pair {
	return pair{to: b[0], from: b[1], out: b[2], in: b[3], outKind: b[4], inKind: b[5]}
}

// String is what a message says of a rank's call.
func (p pair) String() string {
	say := func(word string, rank, n, kind int64) string {
		if rank == Nobody {
			return word + " nobody"
		}
		return fmt.Sprintf("%s rank %d: %d %v", word, rank, n, Kind(kind))
	}
	return say("to", p.to, p.out, p.outKind) + "; " + say("from", p.from, p.in, p.inKind)
}

// pairs is what SendRecv needs beside its programs.
type pairs struct {
	words []int64 // of all ranks, by position
}

// pairUp tells all ranks what this one sends and receives, and hears it of them.
func (g *Group) pairUp(ctx context.Context, own pair, name Vector) error {
	p := &g.pairs
	if n := pairWords * g.Size(); len(p.words) != n {
		p.words = make([]int64, n)
	}
	own.put(p.words[pairWords*g.live.position(g.cfg.Rank):])
	b := Vec(p.words).bytes()
	id := g.call(collective{verb: verbPairs, v: name, root: noRoot}, 0)
	if err := g.run(ctx, id, g.plans.pairUp(), b, b); err != nil {
		return err
	}
	a, other, ok := disagree(p.words, g.live)
	if !ok {
		return nil
	}
	g.engine.fail(g.engine.unpaired(a, other, p.words, g.live), nil)
	return g.failed(ctx)
}

// disagree finds the first two ranks of which one sends what the other does not
// receive, the same on all ranks. A rank that is meant by one alone is the second.
func disagree(words []int64, live lineup) (a, b int, found bool) {
	at := func(r int64) (pair, bool) {
		position := live.position(int(r))
		if position < 0 {
			return pair{}, false
		}
		return pairOf(words[pairWords*position:]), true
	}
	for _, rank := range live {
		r := int64(rank)
		p, _ := at(r)
		if q, ok := at(p.to); p.to != Nobody && (!ok || q.from != r || q.in != p.out || q.inKind != p.outKind) {
			return int(r), int(p.to), true
		}
		if q, ok := at(p.from); p.from != Nobody && (!ok || q.to != r || q.out != p.in || q.outKind != p.inKind) {
			return int(r), int(p.from), true
		}
	}
	return 0, 0, false
}

// unpaired is the failure that two ranks do not send and receive the same.
func (en *engine) unpaired(a, b int, words []int64, live lineup) *failure {
	f := &failure{code: faultMismatch, by: a, rank: b, host: en.hostOf(b)}
	en.mu.Lock()
	defer en.mu.Unlock()
	for i, rank := range [...]int{a, b} {
		id := en.call.id
		id.verb = verbSendRecv
		if at := live.position(rank); at >= 0 {
			id.name = pairOf(words[pairWords*at:]).String()
		}
		f.calls[i] = id
	}
	return f
}
