// SPDX-License-Identifier: Apache-2.0

package core

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// The source of a rank's missing data is a function of the graph of ranks. If a rank reports a
// transfer without progress, it is cut off from that source, and gets another one. A rank that is
// cut off from all sources is evicted. The second such attempt of a rank on the same host ends the
// job.

// cut reports whether the attempt has reported that it gets nothing from the source.
func (a *attempt) cut(source *attempt) bool { return slices.Contains(a.cutOff, source) }

// suspect reports whether an edge between the hosts of two attempts was charged within chargeLasts.
// A new attempt has no charges, but its host may have.
func (j *job) suspect(a, b *attempt) bool {
	return a.from.Host != b.from.Host && slices.ContainsFunc(j.links.charges, func(c charge) bool {
		x, y := c.ends[0].from.Host, c.ends[1].from.Host
		return x == a.from.Host && y == b.from.Host || x == b.from.Host && y == a.from.Host
	})
}

// better reports whether a is a better source for taker than b, which has a lower rank. An edge
// that is not suspect is better; then, the results of the step are.
func (j *job) better(taker, a, b *attempt) bool {
	if doubt := j.suspect(taker, b); doubt != j.suspect(taker, a) {
		return doubt
	}
	return !b.hasResults() && a.hasResults()
}

// sourceFor returns the source of the data that taker is missing at a point; nil if it is cut off
// from all. usual is the source of the others.
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

// stranded returns a holder that is cut off from all sources of its missing data; nil if there is
// none.
func (j *job) stranded() *attempt {
	all := j.members()
	if !slices.ContainsFunc(all, func(a *attempt) bool { return len(a.cutOff) > 0 }) {
		return nil
	}
	_, missing := j.resumePoint()
	for _, l := range missing {
		if a := j.holders[l.Rank]; a.cut(j.holders[l.Source]) {
			return a
		}
	}
	return nil
}

// evictStranded evicts an attempt that is cut off from all sources.
func (m *Machine) evictStranded(a *attempt) {
	j := a.job
	var names []string
	for _, s := range a.cutOff[:min(len(a.cutOff), maxNamed)] {
		names = append(names, fmt.Sprintf("rank %d (%s)", s.rank, s.host))
	}
	why := fmt.Sprintf("it gets no missing data from any source (%s): check the network between them", strings.Join(names, ", "))
	if j.evictions.stranded[a.rank] == a.from.Host {
		c := lossOf(a, why+"; an earlier attempt of the rank on this host had the same fault")
		m.fail(j, c)
		return
	}
	assign(&j.evictions.stranded, a.rank, a.from.Host)
	m.evict(a, why)
}

// clearCutOffs forgets the reported transfers: since then, ranks have completed a step.
func (j *job) clearCutOffs() {
	j.evictions.stranded = nil
	for _, a := range j.everybody() {
		a.cutOff = nil
	}
}

// pullFromAnother sends PULL with another source to a rank that gets no data. Without another
// source it repeats the old one, if that may still succeed.
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
