// SPDX-License-Identifier: Apache-2.0

package core

import (
	"log/slog"
	"net/netip"

	"github.com/gvw-project/gvw/allreduce/topo"
	"github.com/gvw-project/gvw/internal/monitor/events"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/internal/spantree/resume"
)

// onReady processes READY. In a job that recovers the attempt may then become the holder of its rank.
func (m *Machine) onReady(a *attempt, f *protocol.ReadyFrame) {
	j := a.job
	if a.rejoined && a.shard == (protocol.Shard{}) { // repeated for a restarted server
		a.shard, a.checkpoint = f.Shard, f.Checkpoint
		if a.isHolder && a.wired == j.epoch && j.recovers() {
			assign(&j.wiring.shards, a.rank, f.Shard)
		}
	}
	if a.ready || j.phase != filling && !j.recovers() {
		return
	}
	if no := j.checkShard(a, f.Shard); no != nil && j.recovers() {
		m.log(slog.LevelWarn, "attempt refused", append(a.attrs(), slog.String("reason", no.Reason))...)
		m.send(a, &protocol.RefusedFrame{Code: no.Code, Reason: protocol.Clip(no.Reason, protocol.MaxText)})
		m.lose(a, events.FaultDropped, no.Reason)
		return
	}
	a.ready, a.shard, a.checkpoint = true, f.Shard, f.Checkpoint
	j.readyCount++
	a.readyOrder = j.readyCount
	j.changes++
	if a.isHolder {
		j.ready++
	}
	if j.recovers() {
		m.claimRank(a)
		m.pull(a)
	}
	m.advance(j)
	if a.isHolder && (j.phase == filling || j.phase == recovering) {
		m.sendWaiting(a)
	}
}

// wire advances the wiring of a job as far as its members allow. With vw workers it takes two
// rounds. Each worker is sent its number of children, and answers with the port on which it listens
// for them. When all have answered, each is sent the address of its parent.
//
// A rank that is lost between the rounds leaves the wiring valid: the place in the tree follows
// from the rank.
func (m *Machine) wire(j *job) {
	if j.opens() && j.phase == filling && !j.membership.Decided {
		m.decideMembers(j) // which calls wire again
		return
	}
	if j.phase != filling || j.accountedFor() < j.total || j.ready < j.native || j.recovers() && m.inGracePeriod(j) {
		return
	}
	if j.startTimeout > 0 && !j.membership.Decided {
		m.decideMembers(j) // which calls wire again
		return
	}
	if !j.mixed() {
		from, missing := resume.Checkpoint(j.resumeMembers())
		m.startEpoch(j, from, missing)
		return
	}
	tree := topo.VW(j.total)
	all := j.members()
	complete := true
	for _, a := range all {
		if a.vw && !a.kidsSent {
			a.kidsSent, a.kidsAt = true, m.Now
			m.sendBytes(a, byte(tree.Degree(a.rank)), 0)
		}
		complete = complete && a.hasPort
	}
	if complete {
		m.startVWStream(j, tree, all)
	}
}

// newEpoch starts the next epoch and returns its token.
func (m *Machine) newEpoch(j *job) (token [16]byte) {
	m.enter(j, wired)
	j.epoch = protocol.Epoch{Term: m.Term, N: max(j.epoch.N, j.restart.lastN) + 1, Incarnation: m.Incarnation}
	j.changes++
	m.random(token[:])
	m.log(slog.LevelInfo, "job wired", slog.String("job", j.id.String()), slog.Int("total", j.total),
		slog.String("epoch", j.epoch.String()), slog.Bool("vw", j.mixed()))
	return token
}

// startEpoch wires a job of native ranks, which start at a point. All get the same frame.
func (m *Machine) startEpoch(j *job, from resume.Point, missing []protocol.Missing) {
	all := j.members()
	out := outside(all)
	j.wiring.token = m.newEpoch(j)
	j.wiring.resumeAt, j.wiring.gateway, j.losses.vacant, j.wiring.shards = from, out, nil, nil
	f := &protocol.EpochStartFrame{Token: j.wiring.token, Epoch: j.epoch, ResumeEpoch: from.Epoch, ResumeStep: from.Step, Missing: missing}
	for _, l := range missing {
		if l.Payload != protocol.PayloadResults {
			j.holders[l.Rank].fetchedState = from
		}
	}
	for _, a := range all {
		a.wired, a.endSent, a.answered, a.position, a.pullPoint = j.epoch, false, false, resume.Point{}, resume.Point{}
		a.steps, a.slow = 0, 0
		if a.unknownHistory = false; j.recovers() {
			assign(&j.wiring.shards, a.rank, a.shard)
		}
		m := protocol.Member{Rank: a.rank, Capabilities: a.capabilities, Port: a.port, Host: j.addressOf(a, out)}
		if a.from.Host != m.Host {
			m.Seen = protocol.Clip(a.from.Host, protocol.MaxSeen)
		}
		f.Members.Append(m)
	}
	if j.recovers() {
		j.wiring.start = f
	}
	for _, a := range all {
		m.send(a, f)
	}
}

// addressOf returns the host at which others reach the data listener of a. A rank on the gateway
// connects to the server over the loopback, whose address is useless on other machines. If a member
// is on another machine, such a rank gets the address by which that member reaches the gateway.
func (j *job) addressOf(a *attempt, outside string) string {
	switch {
	case a.advertise != "":
		return a.advertise
	case outside != "" && isLoopback(a.from.Host):
		return outside
	}
	return a.from.Host
}

// outside returns the address of the gateway as the first member on another machine sees it; "" if
// all are on the gateway.
func outside(members []*attempt) string {
	for _, a := range members {
		if !isLoopback(a.from.Host) {
			return a.from.Local
		}
	}
	return ""
}

// isLoopback reports whether host is a loopback address, of IPv4 or IPv6.
func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// ipv4 returns an address as the four bytes of vw's protocol.
func ipv4(host string) (ip [4]byte, ok bool) {
	addr, err := netip.ParseAddr(host)
	if err != nil || !addr.Unmap().Is4() {
		return ip, false
	}
	return addr.Unmap().As4(), true
}

// hasIPv4 reports whether vw workers can reach this member.
func hasIPv4(advertise, from string) bool {
	host := from
	if advertise != "" {
		host = advertise
	}
	_, ok := ipv4(host)
	return ok
}
