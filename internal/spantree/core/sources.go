// SPDX-License-Identifier: Apache-2.0

package core

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// The sources of what a rank lacks, as a question about the graph of ranks. An edge of
// that graph is cut for a rank that has reported a transfer over it without progress.
// The rank is sent to another source. A rank that is cut off from all sources is
// evicted; the second one of the same rank and host ends the job.

// cut reports whether the attempt takes nothing from a source, by its own words.
func (a *attempt) cut(source *attempt) bool { return slices.Contains(a.cutOff, source) }

// suspect reports whether an edge between the hosts of two attempts was charged lately.
// An attempt has no charges of its own when it starts; its host may have.
func (j *job) suspect(a, b *attempt) bool {
	return a.from.Host != b.from.Host && slices.ContainsFunc(j.links.charges, func(c charge) bool {
		x, y := c.ends[0].from.Host, c.ends[1].from.Host
		return x == a.from.Host && y == b.from.Host || x == b.from.Host && y == a.from.Host
	})
}

// better reports whether source a serves the taker better than b does, which has a lower
// rank: over an edge that is not suspect, then with the results of the step.
func (j *job) better(taker, a, b *attempt) bool {
	if doubt := j.suspect(taker, b); doubt != j.suspect(taker, a) {
		return doubt
	}
	return !b.hasResults() && a.hasResults()
}

// sourceFor returns the source from which an attempt takes what it lacks of a point. It
// returns nil if the attempt is cut off from all. usual is the source of the others.
func (j *job) sourceFor(taker *attempt, all []*attempt, from point, usual *attempt) *attempt {
	if !taker.cut(usual) && !j.suspect(taker, usual) {
		return usual
	}
	var best *attempt
	for _, a := range all {
		if a.position == from && !taker.cut(a) && (best == nil || j.better(taker, a, best)) {
			best = a
		}
	}
	return best
}

// stranded returns an attempt that is cut off from all sources of what it lacks of the
// point where the next epoch begins, nil if there is none.
func (j *job) stranded() *attempt {
	all := j.members()
	if !slices.ContainsFunc(all, func(a *attempt) bool { return len(a.cutOff) > 0 }) {
		return nil
	}
	_, lacks := j.resumePoint()
	for _, l := range lacks {
		if a := j.holders[l.Rank]; a.cut(j.holders[l.Source]) {
			return a
		}
	}
	return nil
}

// strand takes its rank from an attempt that is cut off from all sources.
func (m *Machine) evictStranded(a *attempt) {
	j := a.job
	var names []string
	for _, s := range a.cutOff[:min(len(a.cutOff), maxNamed)] {
		names = append(names, fmt.Sprintf("rank %d (%s)", s.rank, s.host))
	}
	why := fmt.Sprintf("nothing of what it lacks arrives, from any rank that has it (%s): is the network between them broken?", strings.Join(names, ", "))
	if j.evictions.stranded[a.rank] == a.from.Host {
		c := lossOf(a, why+" An earlier attempt of the rank on this host ended the same way")
		m.fail(j, c)
		return
	}
	assign(&j.evictions.stranded, a.rank, a.from.Host)
	m.evict(a, why)
}

// stepped forgets who was cut off from whom: ranks have exchanged a step since.
func (j *job) clearCutOffs() {
	j.evictions.stranded = nil
	for _, a := range j.everybody() {
		a.cutOff = nil
	}
}

// pullElsewhere sends a rank that cannot pull from its source to another one, and to
// the same one again if there is no other and the transfer may still succeed.
func (m *Machine) pullFromAnother(a *attempt, f *protocol.AskFrame) {
	j := a.job
	if f.Peer != a.pullsFrom.rank {
		return // about an earlier source
	}
	if f.Fault != protocol.EdgeNoTransfer {
		if s := j.pullSource(a, a.pullsFrom); s != nil {
			m.sendPull(a, s)
		}
		return
	}
	m.log(slog.LevelWarn, "edge charged", slog.String("job", j.id.String()), slog.String("why", linkCause(a, a.pullsFrom, f.Detail).Why))
	if !a.cut(a.pullsFrom) {
		a.cutOff = append(a.cutOff, a.pullsFrom)
	}
	if s := j.pullSource(a, a.pullsFrom); s != nil && !a.cut(s) {
		m.sendPull(a, s)
		return
	}
	m.evictStranded(a)
}
