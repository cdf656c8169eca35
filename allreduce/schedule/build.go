// SPDX-License-Identifier: Apache-2.0

package schedule

import "slices"

// builder collects the steps of a program.
type builder struct{ p *Program }

func newBuilder(size, rank, bytes int) builder {
	return builder{&Program{Size: size, Rank: rank, Bytes: bytes}}
}

func (b builder) add(act Act, peer, lo, hi int) {
	b.p.Steps = append(b.p.Steps, Step{Act: act, Peer: peer, Lo: lo, Hi: hi})
}

// seal completes a program: who comes after whom, and the lists by peer.
func (b builder) seal() *Program {
	p := b.p
	for i := range p.Steps {
		p.Steps[i].Own = b.own(i)
		p.Steps[i].After = b.after(i)
		if peer := p.Steps[i].Peer; !slices.Contains(p.Peers, peer) {
			p.Peers = append(p.Peers, peer)
		}
	}
	slices.Sort(p.Peers)
	p.sends, p.receives = make([][]int32, len(p.Peers)), make([][]int32, len(p.Peers))
	for i := range p.Steps {
		at, _ := slices.BinarySearch(p.Peers, p.Steps[i].Peer)
		if p.Steps[i].Act == Give {
			p.sends[at] = append(p.sends[at], int32(i))
		} else {
			p.receives[at] = append(p.receives[at], int32(i))
		}
	}
	return p
}

// touch says whether two steps share a byte. In an empty collective all do.
func touch(a, b *Step) bool {
	return a.Lo < b.Hi && b.Lo < a.Hi || a.Lo == a.Hi && a.Lo == b.Lo && b.Lo == b.Hi
}

// own says that no step before the i-th has written its range.
func (b builder) own(i int) bool {
	for j := range i {
		if b.p.Steps[j].Act != Give && touch(&b.p.Steps[j], &b.p.Steps[i]) {
			return false
		}
	}
	return true
}

// after are the steps before the i-th that it conflicts with, but those that
// one of them comes after on all the bytes they share with it.
func (b builder) after(i int) (after []int32) {
	s := &b.p.Steps[i]
	for j := i - 1; j >= 0; j-- {
		t := &b.p.Steps[j]
		if !touch(s, t) || s.Act == Give && t.Act == Give {
			continue
		}
		after = append(after, int32(j))
		if t.Act != Give && t.Lo <= s.Lo && s.Hi <= t.Hi {
			break // it writes all that s touches, after whatever was before
		}
	}
	return after
}
