// SPDX-License-Identifier: Apache-2.0

package core

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gvw-project/gvw/internal/monitor/traffic"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Reports give the reason why a job waits, in words: in WAITING frames, in the log and in STATUS.

const (
	// reportInterval is the time after which a waiting rank gets a new report although only the
	// waiting time has changed.
	reportInterval = 5 * time.Second
	// firstReport is the time after which the log has a line about a waiting job. The interval
	// doubles with each line, up to maxReportGap.
	firstReport  = 10 * time.Second
	maxReportGap = 10 * time.Minute
	// bigJob is the number of ranks above which a report is made at most once a second: making one
	// visits all ranks, and each join of a rank asks for one.
	bigJob = 64
	// maxNamed is the number of ranks that a report names.
	maxNamed = 8
)

// waitReport is the newest report of a job, and the time of its next line in the log.
type waitReport struct {
	text    string
	change  int // job.changes when it was made
	at      time.Time
	nextLog time.Time
	logGap  time.Duration
}

// lastReport is the newest report that an attempt was sent.
type lastReport struct {
	change int // job.changes when it was made
	report string
	at     time.Time
}

// onHeartbeat acknowledges a heartbeat, which extends the rank's lease. While the job waits, it also
// sends the reason if that has changed.
func (m *Machine) onHeartbeat(a *attempt, f *protocol.HeartbeatFrame) {
	a.waitText, a.ackedAt = f.Waits, m.Now
	a.waits = a.waits.Next(f.WaitsFor, f.Collective, f.Epoch, m.Now)
	m.send(a, &protocol.HeartbeatAckFrame{Seq: f.Seq})
	j := a.job
	if j.phase != filling && j.phase != recovering {
		return
	}
	if a.reported.change != j.changes || m.Now.Sub(a.reported.at) >= reportInterval {
		m.sendWaiting(a)
	}
}

// onTraffic stores the counts of a rank, and adds them to those of its job.
func (a *attempt) onTraffic(f *protocol.TrafficFrame) {
	if a.job.traffic == nil {
		a.job.traffic = &traffic.Counts{}
	}
	a.job.traffic.Add(&f.Counts, a.traffic)
	a.traffic = &f.Counts
}

// trafficMemory returns the memory that counts are counted with, in bytes.
func trafficMemory(c *traffic.Counts) int64 {
	if c == nil {
		return 0
	}
	const countsBytes, callsBytes, classBytes, edgeBytes = 160, 144, 24, 40
	return countsBytes + callsBytes*int64(len(c.Calls)) + classBytes*int64(len(c.Classes)) + edgeBytes*int64(len(c.Edges))
}

// onClock answers with the time. The calendar sets the clock at the start of the server only, since a jump would spoil
// what ranks have measured before.
func (m *Machine) onClock(a *attempt, f *protocol.ClockFrame) {
	now := m.started.UnixNano() + int64(m.wall.Sub(m.started))
	m.send(a, &protocol.ClockAnswerFrame{Sent: f.Sent, Time: uint64(now), Clock: m.Incarnation})
}

// sendWaiting sends the newest report to a waiting rank, unless it has got the same one.
func (m *Machine) sendWaiting(a *attempt) {
	j := a.job
	report := j.report(m.Now)
	again := a.reported.change == j.waitReport.change && a.reported.report == report
	a.reported = lastReport{j.waitReport.change, report, m.Now}
	if again {
		return // only time has passed, and the report does not contain it
	}
	vws := len(j.holders) - j.native // a vw worker is READY when it joins
	m.send(a, &protocol.WaitingFrame{Joined: uint32(j.accountedFor()), Ready: uint32(j.ready + vws), Total: uint32(j.total), Report: report})
}

// report returns the reason why a job that fills or recovers waits, as one sentence. All members
// ask for it once a second, and each join changes it. A report is therefore used for one second,
// by all of them, unless a small job has changed.
func (j *job) report(now time.Time) string {
	same := j.waitReport.change == j.changes || j.total > bigJob
	if j.waitReport.text != "" && same && now.Sub(j.waitReport.at) < time.Second {
		return j.waitReport.text
	}
	var b strings.Builder
	if j.phase == recovering {
		j.reportRecovery(&b, now)
	} else if n, total := len(j.holders), j.total-len(j.removed); n < total {
		fmt.Fprintf(&b, "%d of %d ranks have joined, missing %s", n, total, protocol.Ranks(j.missing()))
		j.reportDepartures(&b, now)
		j.reportEarlier(&b, now)
	} else if slow := j.notReady(); len(slow) > 0 {
		fmt.Fprintf(&b, "all %d ranks have joined, %s not READY yet", total, protocol.Ranks(slow))
	} else {
		fmt.Fprintf(&b, "all %d ranks have joined and are being wired", total)
	}
	if j.phase == filling {
		b.WriteString(j.elasticReport(now))
	}
	j.waitReport.text, j.waitReport.change, j.waitReport.at = protocol.Clip(b.String(), protocol.MaxText), j.changes, now
	return j.waitReport.text
}

// reportDepartures adds the departures of missing ranks.
func (j *job) reportDepartures(b *strings.Builder, now time.Time) {
	named := 0
	for _, r := range j.missing() {
		f, ok := j.departed[r]
		if !ok {
			continue
		}
		if named++; named > maxNamed {
			b.WriteString("; …")
			return
		}
		fmt.Fprintf(b, "; rank %d (%s) left %v ago: %s", r, f.host, now.Sub(f.at).Round(time.Second), f.why)
	}
}

// reportEarlier adds the failure of a job of the same name.
func (j *job) reportEarlier(b *strings.Builder, now time.Time) {
	if j.earlier == nil {
		return
	}
	fmt.Fprintf(b, "; a job of this name failed %v ago, before all its ranks had joined: ", now.Sub(j.earlier.At).Round(time.Second))
	why := j.earlier.End.Cause
	if why.Rank >= 0 {
		fmt.Fprintf(b, "rank %d (%s): ", why.Rank, why.Host)
	}
	b.WriteString(why.Why)
}

// reportRecovery writes which ranks are missing, since when, and why.
func (j *job) reportRecovery(b *strings.Builder, now time.Time) {
	ago := func(t time.Time) time.Duration { return now.Sub(t).Round(time.Second) }
	fmt.Fprintf(b, "epoch %v ended %v ago", j.epoch, ago(j.lastEnd.at))
	named := 0
	for _, r := range sortedRanks(j.losses.vacant) {
		if named++; named > maxNamed {
			b.WriteString("; …")
			break
		}
		v := j.losses.vacant[r]
		fmt.Fprintf(b, "; rank %d (%s) was lost %v ago: %s", r, v.cause.Host, ago(v.since), v.cause.Why)
		switch a := j.holders[r]; {
		case a == nil:
			fmt.Fprintf(b, ", waiting up to %v for a new attempt", (j.replaceTimeout - now.Sub(v.since)).Round(time.Second))
		case !a.ready:
			fmt.Fprintf(b, ", a new attempt on %s reads its shard", a.host)
		default:
			fmt.Fprintf(b, ", a new attempt on %s is ready", a.host)
		}
	}
	var silent []int
	for _, a := range j.members() {
		if a.endSent && !a.answered {
			silent = append(silent, a.rank)
		}
	}
	if len(silent) > 0 {
		fmt.Fprintf(b, "; no answer from %s yet", protocol.Ranks(silent))
	}
}

// describe returns the phase of a job in a few words.
func (j *job) describe(now time.Time) string {
	switch j.phase {
	case filling, recovering:
		return j.report(now)
	case wired:
		return fmt.Sprintf("wired, epoch %v", j.epoch)
	case ending:
		if j.finish.receipt != 0 {
			return fmt.Sprintf("ending: every file is delivered, waiting for the server's journal for %v", now.Sub(j.finish.sentAt).Round(time.Second))
		}
	}
	return j.phase.String()
}

// onStatus answers STATUS with JOBS, the only frame of its connection.
func (m *Machine) onStatus(ev StatusRequested) {
	m.do(SendFrame{ev.Conn, &protocol.JobsFrame{JSON: m.statusJSON()}})
	m.do(CloseConn(ev))
}

// statusJSON returns the status in JSON. If it exceeds the limit of a frame, it omits the ended jobs,
// then the counts of the ranks, then the ranks, and then shortens the options.
func (m *Machine) statusJSON() string {
	s := m.Status()
	each := func(shorten func(*protocol.JobStatus)) {
		for i := range s.Jobs {
			shorten(&s.Jobs[i])
		}
	}
	for _, shorten := range []func(){
		func() {},
		func() { s.Ended = nil },
		func() {
			each(func(j *protocol.JobStatus) {
				for i := range j.Ranks {
					j.Ranks[i].Traffic = nil
				}
			})
		},
		func() { each(func(j *protocol.JobStatus) { j.Ranks = nil }) },
		func() { each(func(j *protocol.JobStatus) { j.Options = protocol.Clip(j.Options, 100) }) },
	} {
		shorten()
		text, err := json.Marshal(s)
		if err != nil {
			panic("BUG: spantree: a ServerStatus is no JSON: " + err.Error())
		}
		if len(text) <= protocol.MaxPayload-4 {
			return string(text)
		}
	}
	return "{}"
}

// Status returns the jobs of the server, oldest first.
func (m *Machine) Status() protocol.ServerStatus {
	s := protocol.ServerStatus{Version: m.Version, Term: m.Term, Draining: m.draining, Finished: m.finished.Len(), Journal: m.broken, Jobs: []protocol.JobStatus{}, Ended: slices.Clone(m.endings)}
	for _, j := range m.order {
		js := protocol.JobStatus{
			UniqueID: j.id.UniqueID, RunKey: j.id.RunKey, Generation: j.generation, State: j.phase.String(), Report: j.describe(m.Now),
			VW: j.vwStream || j.mixed(), Total: j.total, Joined: len(j.holders), Seconds: m.Now.Sub(j.created).Seconds(), Options: j.options,
		}
		if j.epoch != (protocol.Epoch{}) {
			js.Epoch = j.epoch.String()
		}
		js.Spares, js.Refused, js.Refusal = len(j.spares), j.refusals.count, j.refusals.newest
		js.Found = j.found
		if j.policy != protocol.Abort {
			js.OnLoss = j.policy.String()
			js.Removed = sortedRanks(j.removed)
			js.Vacant = slices.DeleteFunc(sortedRanks(j.losses.vacant), func(r int) bool { return j.holders[r] != nil })
		}
		if l := &j.losses; !l.newestAt.IsZero() {
			js.LastLoss = &protocol.LossStatus{Epoch: l.newestIn.String(), Rank: l.newest.Rank, Host: l.newest.Host, Why: l.newest.Why, Seconds: m.Now.Sub(l.newestAt).Seconds()}
		}
		if j.traffic != nil {
			js.Traffic = j.traffic.Clone()
		}
		for _, a := range j.attempts() {
			js.Ranks = append(js.Ranks, a.status(m.Now))
			if !a.isHolder && a.rank >= 0 {
				js.Standbys++
			}
		}
		s.Jobs = append(s.Jobs, js)
	}
	return s
}

// status returns the part of a status about one attempt.
func (a *attempt) status(now time.Time) protocol.RankStatus {
	r := protocol.RankStatus{
		Rank: a.rank, Attempt: a.number, Host: a.host, Version: a.version, VW: a.vw, State: "joined", Waits: a.waitText,
		Pass: a.progress.Pass, Step: a.progress.Step, Steps: a.progress.Number, Examples: a.progress.Examples, Loss: finite(a.progress.Loss), Holdout: finite(a.progress.Holdout),
		Traffic: a.traffic,
	}
	if w := a.waits; w.Epoch == a.wired && !a.vw && (w.Collective > 0 || w.For >= 0 && w.At != (time.Time{})) {
		r.Collective, r.WaitsSeconds = w.Collective, now.Sub(w.Same).Seconds()
		if w.For >= 0 {
			r.WaitsFor = &w.For
		}
	}
	if a.hasPort {
		r.Address = protocol.HostPort(a.job.addressOf(a, ""), a.port)
	}
	switch {
	case a.rank < 0:
		r.State = "spare"
	case !a.isHolder:
		r.State = "standby"
	case a.complete:
		r.State = "complete"
	case a.ready || a.vw:
		r.State = "ready"
	}
	if !a.vw {
		r.Silent = now.Sub(a.lastFrame).Seconds()
	}
	return r
}

// finite returns 0 instead of a number that JSON cannot represent.
func finite(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}

// JobBytes is the memory that a job is counted with, in bytes, in addition to its texts and its
// members. It covers maps, charges and evictions, whose sizes are bounded.
const JobBytes = 8 << 10

// MemoryUse returns the memory that clients occupy in the machine, in bytes, as the server's limit
// counts it.
func (m *Machine) MemoryUse() (n int64) {
	n = m.finished.Bytes() + int64(m.logs.Bytes())
	for _, q := range m.inquiries {
		n += q.memoryUse()
	}
	for _, j := range m.order {
		n += JobBytes + trafficMemory(j.traffic) + int64(len(j.options)+len(j.id.RunKey)+len(j.waitReport.text)+len(j.losses.newest.Host)+len(j.losses.newest.Why))
		for _, f := range j.finish.files {
			n += protocol.FileBytes + int64(len(f.File))
		}
		for _, a := range j.attempts() {
			n += a.memoryUse()
		}
	}
	return n
}

// memoryUse returns the memory that an attempt is counted with, in bytes.
func (a *attempt) memoryUse() int64 {
	n := protocol.MemberBytes + int64(len(a.host)+len(a.advertise)+len(a.version)+len(a.waitText)+len(a.reported.report)) + eventsMemory(a.events) + trafficMemory(a.traffic)
	for _, f := range a.owed {
		n += protocol.FileBytes + int64(len(f))
	}
	return n
}
