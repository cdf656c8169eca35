// SPDX-License-Identifier: Apache-2.0

package core

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/internal/spantree/resume"
)

// Package resume decides where an epoch starts, and the source of each rank's missing data. If a
// rank reports a transfer without progress, it is cut off from that source, and gets another one. A
// rank that is cut off from all sources is evicted. The second such attempt of a rank on the same
// host ends the job.

// resumeMember returns the part of an attempt that decides where an epoch starts.
func (a *attempt) resumeMember() resume.Member {
	return resume.Member{Rank: a.rank, At: a.position, Fetched: a.fetchedState, Current: a.wired == a.job.epoch, Checkpoint: a.checkpoint}
}

// resumeMembers returns that of all members, by rank.
func (j *job) resumeMembers() []resume.Member {
	all := make([]resume.Member, 0, len(j.holders))
	for _, a := range j.members() {
		all = append(all, a.resumeMember())
	}
	return all
}

// path returns what is known of the network from the source to a rank, of the last chargeLasts.
func (j *job) path(rank, source int) resume.Path {
	a, b := j.holders[rank], j.holders[source]
	switch {
	case a.cut(b):
		return resume.CutOff
	case a.from.Host == b.from.Host:
		return resume.Clear
	}
	for _, c := range j.links.charges {
		x, y := c.ends[0].from.Host, c.ends[1].from.Host
		if x == a.from.Host && y == b.from.Host || x == b.from.Host && y == a.from.Host {
			return resume.Suspect
		}
	}
	return resume.Clear
}

// cut reports whether the attempt has reported that it gets nothing from the source.
func (a *attempt) cut(source *attempt) bool { return slices.Contains(a.cutOff, source) }

// stranded returns a holder that is cut off from all sources of its missing data; nil if there is
// none.
func (j *job) stranded() *attempt {
	all := j.members()
	if !slices.ContainsFunc(all, func(a *attempt) bool { return len(a.cutOff) > 0 }) {
		return nil
	}
	_, missing := resume.Find(j.resumeMembers(), j.path)
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
