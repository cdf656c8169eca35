// SPDX-License-Identifier: Apache-2.0

package core

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// refusal is a refusal with its reason, of any length. Both protocols share the rules that return
// it, and each sends it in its own form.
type refusal = protocol.RefusedFrame

func refuse(code protocol.Code, format string, args ...any) *refusal {
	return &refusal{Code: code, Reason: fmt.Sprintf(format, args...)}
}

// onVWHello answers ok at once, 1 or 0, as vw's own server does (run in spanning_tree.cc). vw leaves
// the connection of a refused worker open; this server closes it.
func (m *Machine) onVWHello(ev VWHello) {
	j, no := m.jobOfVW(ev)
	if no != nil {
		m.logRefusal("vw worker refused", slog.String("from", ev.From.Host), slog.Uint64("unique_id", ev.Unique),
			slog.Uint64("rank", ev.Rank), slog.Uint64("total", ev.Total), slog.String("reason", no.Reason))
		m.do(SendBytes{ev.Conn, []byte{0, 0, 0, 0}})
		m.do(CloseConn{ev.Conn})
		return
	}
	a := &attempt{conn: ev.Conn, job: j, rank: int(ev.Rank), vw: true, from: ev.From, host: ev.From.Host}
	m.sendBytes(a, 1, 0, 0, 0)
	m.admit(a)
	m.wire(j)
}

// jobOfVW returns the job that a vw worker joins, or a refusal.
func (m *Machine) jobOfVW(ev VWHello) (*job, *refusal) {
	if no := m.checkRank(ev.Rank, ev.Total); no != nil {
		return nil, no
	}
	if _, ok := ipv4(ev.From.Host); !ok {
		return nil, refuse(protocol.NoIPv4, "vw's protocol supports only IPv4; this worker's address is %s", ev.From.Host)
	}
	// vw has no run key: exactly one job with this unique_id must be filling.
	var fits []*job
	running := false
	for _, j := range m.order {
		switch {
		case j.id.UniqueID != ev.Unique:
		case j.phase == filling:
			fits = append(fits, j)
		case j.id.RunKey == "" || j.vwStream:
			running = true
		}
	}
	total := int(ev.Total)
	switch {
	case len(fits) > 1:
		return nil, refuse(protocol.Malformed, "%d jobs with unique_id %d are filling (%v, %v, …): give this job another unique_id", len(fits), ev.Unique, fits[0].id, fits[1].id)
	case len(fits) == 0 && running:
		return nil, refuse(protocol.RankHeld, "job %d is running", ev.Unique)
	case len(fits) == 0:
		return m.open(protocol.Job{UniqueID: ev.Unique}, total, 0)
	}
	j := fits[0]
	if len(j.removed) > 0 {
		return nil, refuse(protocol.RankHeld, "job %v starts without %s, and vw's tree needs all ranks", j.id, protocol.Ranks(sortedRanks(j.removed)))
	}
	if no := j.checkFree(int(ev.Rank), total); no != nil {
		return nil, no
	}
	for _, a := range j.members() {
		if !a.vw && !hasIPv4(a.advertise, a.from.Host) {
			return nil, refuse(protocol.NoIPv4, "rank %d (%s) of the job has no IPv4 address, so vw workers cannot reach it", a.rank, a.host)
		}
	}
	return j, nil
}

// onJoin admits or refuses an attempt of the native protocol.
func (m *Machine) onJoin(ev JoinReceived) {
	f := ev.Join
	if f.Epoch != (protocol.Epoch{}) {
		no, ended := m.checkEpoch(ev)
		switch {
		case no != nil:
			m.refuse(ev, no)
			return
		case ended != nil:
			m.do(SendFrame{ev.Conn, &protocol.JoinedFrame{Attempt: f.Attempt, LostAfter: f.LostAfter}})
			m.do(SendFrame{ev.Conn, ended})
			m.do(CloseConn{ev.Conn})
			return
		}
	}
	j, no := m.jobOfJoin(ev)
	if no != nil {
		m.refuse(ev, no)
		return
	}
	if a := j.returning(f); a != nil {
		m.reconnect(a, ev)
		return
	}
	a := &attempt{
		conn: ev.Conn, job: j, rank: f.RankOrNone(), number: f.Attempt, from: ev.From, host: f.Host,
		advertise: f.AdvertiseHost, port: f.Port, hasPort: true, capabilities: f.Capabilities, version: f.Version,
		lastFrame: m.Now, lostAfter: f.LostAfter, epochState: epochState{generation: f.Generation},
	}
	if a.host == "" {
		a.host = ev.From.Host
	}
	if a.lostAfter == 0 {
		a.lostAfter = m.LostAfter
	}
	// A rank is silent between two heartbeats. The limit is at least two intervals, so that one
	// delayed heartbeat is no loss.
	a.lostAfter = min(max(a.lostAfter, 2*f.Heartbeat), m.IdleFor)
	if !j.configured() { // the first native attempt sets the agreement
		j.policy, j.replaceTimeout, j.slowFactor = f.OnLoss, cmp.Or(f.ReplaceTimeout, m.ReplaceTimeout), f.SlowFactor
		j.options, j.digest, j.generation, j.owner = f.Options, f.OptionsSHA256, f.Generation, f.Owner
		j.startTimeout = f.Elastic
		m.rename(j, protocol.Job{UniqueID: f.UniqueID, RunKey: f.RunKey})
	}
	if no := m.learnMembers(j, f); no != nil {
		m.refuse(ev, no)
		return
	}
	if f.Epoch != (protocol.Epoch{}) {
		if no := m.rejoin(a, f); no != nil {
			m.refuse(ev, no)
			return
		}
		m.advance(j)
		return
	}
	joined := &protocol.JoinedFrame{Attempt: a.number, LostAfter: a.lostAfter, Seen: protocol.Clip(ev.From.Host, protocol.MaxHost), Members: j.membership}
	if a.rank < 0 {
		m.keepSpare(a, joined)
		return
	}
	// jobOfJoin has refused the attempt unless the rank is free or may have standbys.
	if j.recovers() && !j.free(a.rank) {
		m.standBy(a)
		joined.Joined = uint32(j.accountedFor())
		m.send(a, joined)
		m.replaceShunned(a)
		m.tellStandbys(j, a.rank)
		return
	}
	m.admit(a)
	joined.Joined = uint32(j.accountedFor())
	m.send(a, joined)
	m.decideMembers(j)
}

// refuse refuses a JOIN: it sends REFUSED, closes the connection, and counts the refusal for the
// status.
func (m *Machine) refuse(ev JoinReceived, no *refusal) {
	f := ev.Join
	m.refused.Add(f, no, m.Now)
	if j := m.jobs[protocol.Job{UniqueID: f.UniqueID, RunKey: f.RunKey}]; j != nil && (no.Code == protocol.OptionsDiffer || no.Code == protocol.TotalDiffers) {
		j.refusals.count++ // counted for each further attempt with the same values, too
		j.refusals.newest = no.Reason
	}
	m.logRefusal("rank refused", slog.String("from", ev.From.Host), slog.String("job", protocol.Job{UniqueID: f.UniqueID, RunKey: f.RunKey}.String()),
		slog.Int("rank", f.RankOrNone()), slog.String("reason", no.Reason))
	m.do(SendFrame{ev.Conn, &protocol.RefusedFrame{Code: no.Code, Model: no.Model, Reason: protocol.Clip(no.Reason, protocol.MaxText)}})
	m.do(CloseConn{ev.Conn})
}

// jobOfJoin returns the job that JOIN is for, or a refusal. It opens a new job if there is none.
func (m *Machine) jobOfJoin(ev JoinReceived) (*job, *refusal) {
	f := ev.Join
	if f.OptionsSHA256 != sha256.Sum256([]byte(f.Options)) {
		return nil, refuse(protocol.Malformed, "options_sha256 is not the digest of the options %q", protocol.Clip(f.Options, 200))
	}
	if f.OnLoss > protocol.Shrink {
		return nil, refuse(protocol.Malformed, "%v: want 0 (abort), 1 (wait) or 2 (shrink)", f.OnLoss)
	}
	rank := uint64(f.Rank)
	if f.Spare() {
		if no := checkSpare(f); no != nil {
			return nil, no
		}
		rank = 0
	}
	if no := m.checkRank(rank, uint64(f.Total)); no != nil {
		return nil, no
	}
	if no := checkElastic(f); no != nil {
		return nil, no
	}
	if no := m.checkFinished(f); no != nil {
		return nil, no
	}
	j := m.jobs[protocol.Job{UniqueID: f.UniqueID, RunKey: f.RunKey}]
	if j == nil && f.RunKey != "" {
		// Earlier vw workers may have opened the job without its key.
		if k := m.jobs[protocol.Job{UniqueID: f.UniqueID}]; k != nil && k.phase == filling && k.native == 0 {
			j = k
		}
	}
	if j != nil && j.empty() && (j.generation > f.Generation || j.checkAgreement(f) != nil) {
		// No attempt is left with which this one could disagree.
		m.log(slog.LevelInfo, "job closed: no ranks left", slog.String("job", j.id.String()))
		m.remove(j, jobFailed, j.abandoned())
		j = nil
	}
	if j != nil && j.configured() && f.Generation != j.generation && j.returning(f) == nil {
		no, over := m.fence(j, f.Generation)
		if no != nil {
			return nil, no
		}
		if over {
			j = nil
		}
	}
	if no := m.refused.Find(f); j == nil && no != nil {
		return nil, no
	}
	if j == nil {
		return m.open(protocol.Job{UniqueID: f.UniqueID, RunKey: f.RunKey}, int(f.Total), f.Generation)
	}
	if j.configured() && (j.recovers() || f.Epoch != protocol.Epoch{}) {
		no := j.checkAgreement(f)
		switch {
		case no != nil || f.Epoch != (protocol.Epoch{}) || j.returning(f) != nil:
		case f.Spare():
			no = j.checkRoom()
		default:
			no = j.checkStandby(int(f.Rank), f.Attempt)
		}
		return j, no
	}
	if f.Spare() {
		return nil, refuse(protocol.RankHeld, "vw workers are in job %v: it cannot use a spare", j.id)
	}
	if no := j.checkFree(int(f.Rank), int(f.Total)); no != nil {
		return nil, no
	}
	if j.configured() {
		if no := j.checkAgreement(f); no != nil {
			return nil, no
		}
	}
	if j.mixed() && !hasIPv4(f.AdvertiseHost, ev.From.Host) {
		return nil, refuse(protocol.NoIPv4, "the job has vw workers, which can reach this rank only by IPv4")
	}
	return j, nil
}

// configured reports whether a native attempt has set the agreement.
func (j *job) configured() bool {
	return j.native > 0 || len(j.spares) > 0 || j.epoch != protocol.Epoch{}
}

// checkAgreement refuses an attempt that disagrees with the job's other ranks.
func (j *job) checkAgreement(f *protocol.JoinFrame) *refusal {
	switch {
	case int(f.Total) != j.total:
		return refuse(protocol.TotalDiffers, "total %d differs from that of the job, %d", f.Total, j.total)
	case f.OptionsSHA256 != j.digest:
		return refuse(protocol.OptionsDiffer, "options differ from those of the job's other ranks: %s", protocol.DiffOptions(f.Options, j.options))
	case f.Owner != j.owner:
		return refuse(protocol.OptionsDiffer, "options differ from those of the job's other ranks: the job tokens are different, or some ranks lack theirs")
	case f.OnLoss != j.policy:
		return refuse(protocol.OptionsDiffer, "options differ from those of the job's other ranks: on_loss=%v here, on_loss=%v there", f.OnLoss, j.policy)
	case f.Elastic != j.startTimeout:
		return refuse(protocol.OptionsDiffer, "options differ from those of the job's other ranks: elastic start after %v here, after %v there (0s: never)", f.Elastic, j.startTimeout)
	case f.ReplaceTimeout != 0 && f.ReplaceTimeout != j.replaceTimeout && j.policy != protocol.Abort:
		return refuse(protocol.OptionsDiffer, "options differ from those of the job's other ranks: replace_timeout=%v here, replace_timeout=%v there", f.ReplaceTimeout, j.replaceTimeout)
	}
	return nil
}

// checkRank refuses values that are no rank of a job. On total 0 and on large totals vw's own server
// crashes: it computes log(0), or allocates memory for total without a check.
func (m *Machine) checkRank(rank, total uint64) *refusal {
	switch {
	case total == 0:
		return refuse(protocol.RankInvalid, "total is 0: a job has at least one rank")
	case total > uint64(m.MaxRanks):
		return refuse(protocol.RankInvalid, "total %d exceeds this server's limit of %d ranks per job", total, m.MaxRanks)
	case rank >= total:
		return refuse(protocol.RankInvalid, "rank %d of a job of %d ranks: ranks are 0 to %d", rank, total, total-1)
	}
	return nil
}

// checkFinished refuses attempts of runs that have finished.
func (m *Machine) checkFinished(f *protocol.JoinFrame) *refusal {
	done := m.finished.Find(f.RunKey)
	switch {
	case f.RunKey == "" || done == nil:
		return nil
	case done.Options != f.OptionsSHA256:
		return refuse(protocol.OptionsDiffer, "run %s has finished %v ago with other options: use another run key", f.RunKey, m.wall.Sub(done.At).Round(time.Second))
	}
	no := refuse(protocol.JobFinished, "run %s has finished %v ago with model %x…", f.RunKey, m.wall.Sub(done.At).Round(time.Second), done.Model[:6])
	no.Model = done.Model
	return no
}

// fence ends the running generation if a newer one joins. While the job ends it does not: the newer
// attempt becomes a standby.
func (m *Machine) fence(j *job, generation uint32) (no *refusal, over bool) {
	switch {
	case generation < j.generation:
		return refuse(protocol.AttemptFenced, "generation %d of the job runs, this attempt is of generation %d", j.generation, generation), false
	case j.phase == ending && j.recovers():
		return nil, false
	case j.phase == ending:
		return refuse(protocol.RankHeld, "generation %d of the job is delivering its model", j.generation), false
	}
	m.fail(j, protocol.Cause{Kind: protocol.CauseRefused, Code: protocol.AttemptFenced, Rank: -1, Why: fmt.Sprintf("generation %d of the job has started", generation)})
	return nil, true
}

// checkFree refuses an attempt for which an existing job has no place.
func (j *job) checkFree(rank, total int) *refusal {
	if total != j.total {
		return refuse(protocol.TotalDiffers, "total %d differs from that of the job, %d", total, j.total)
	}
	if a := j.holders[rank]; a != nil {
		return refuse(protocol.RankHeld, "rank %d of job %v is held by another attempt, on %s", rank, j.id, a.host)
	}
	if j.phase != filling {
		return refuse(protocol.RankHeld, "job %v is running: rank %d can no longer join it", j.id, rank)
	}
	return nil
}

// open makes a job, or refuses it at a limit of the server.
func (m *Machine) open(id protocol.Job, total int, generation uint32) (*job, *refusal) {
	if len(m.jobs) >= m.MaxJobs {
		if i := slices.IndexFunc(m.order, (*job).empty); i >= 0 {
			m.log(slog.LevelInfo, "job closed: no ranks left", slog.String("job", m.order[i].id.String()))
			m.remove(m.order[i], jobFailed, m.order[i].abandoned())
		}
	}
	switch {
	case m.draining:
		return nil, refuse(protocol.ServerDraining, "the server is shutting down and accepts no new jobs")
	case len(m.jobs) >= m.MaxJobs:
		return nil, refuse(protocol.ServerFull, "the server has %d jobs, its limit", len(m.jobs))
	case id.RunKey != "" && m.broken != "":
		return nil, refuse(protocol.ServerFault, "the server could not record the end of job %v, since its journal has failed: %s; restart the server", id, m.broken)
	}
	j := &job{
		id: id, created: m.Now, agreement: agreement{total: total, generation: generation},
		holders: map[int]*attempt{}, departed: map[int]departure{},
		waitReport: waitReport{nextLog: m.Now.Add(firstReport), logGap: firstReport},
	}
	if m.Now.Before(m.Grace) {
		j.restart.graceUntil = m.Grace
	}
	if p := m.outcomes.Find(id); p != nil {
		j.restart.lastN = p.Epoch.N // epochs continue, so that attempts of the earlier job are not accepted as this job's
	}
	m.jobs[id] = j
	m.order = append(m.order, j)
	m.log(slog.LevelInfo, "job opened", slog.String("job", id.String()), slog.Int("total", total))
	return j, nil
}

// rename gives the full name to a job that vw workers have opened.
func (m *Machine) rename(j *job, id protocol.Job) {
	delete(m.jobs, j.id)
	j.id = id
	m.jobs[id] = j
}

// admit makes an attempt the holder of its rank.
func (m *Machine) admit(a *attempt) {
	j := a.job
	a.joined = m.Now
	j.setHolder(a)
	delete(j.departed, a.rank)
	m.Conns[a.conn] = a
	m.log(slog.LevelInfo, "rank joined", append(a.attrs(), slog.Bool("vw", a.vw), slog.Int("joined", len(j.holders)), slog.Int("total", j.total))...)
}

// forget removes an attempt from its job.
func (m *Machine) forget(a *attempt) {
	delete(m.Conns, a.conn)
	switch {
	case a.isHolder:
		a.job.clearHolder(a)
	case a.rank < 0:
		a.job.dropSpare(a)
	default:
		a.job.dropStandby(a)
		if a.job.handover.previous == a {
			a.job.handover.previous = nil
		}
	}
}

// setHolder makes an attempt the holder of its rank.
func (j *job) setHolder(a *attempt) {
	j.holders[a.rank], a.isHolder = a, true
	j.changes++
	if !a.vw {
		j.native++
		if a.ready {
			j.ready++
		}
	}
}

// clearHolder ends that. The counters of the job follow.
func (j *job) clearHolder(a *attempt) {
	delete(j.holders, a.rank)
	a.isHolder = false
	j.changes++
	if a.vw {
		return
	}
	j.native--
	if a.ready {
		j.ready--
	}
	if a.complete {
		j.finish.completed--
		j.finish.owed -= len(a.owed)
	}
	if a.endSent && !a.answered {
		j.lastEnd.unanswered--
	}
}

// remove ends a job. Its outcome remains, and the record of a finished run.
func (m *Machine) remove(j *job, how outcome, why protocol.Cause) {
	m.ended(j, how, why)
	for _, a := range j.everybody() {
		m.do(CloseConn{a.conn})
		m.forget(a)
	}
	if m.jobs[j.id] == j {
		delete(m.jobs, j.id)
	}
	if j.phase != failed {
		m.refused.Forget(j.id)
	}
	m.order = slices.DeleteFunc(m.order, func(k *job) bool { return k == j })
}

// lose processes the end of an attempt: its connection has ended, or it is fenced.
func (m *Machine) lose(a *attempt, why string) {
	j := a.job
	switch {
	case !a.isHolder:
		m.log(slog.LevelInfo, "standby left", append(a.attrs(), slog.String("why", why))...)
		m.do(CloseConn{a.conn})
		m.forget(a)
		m.closeEmpty(j)
	case j.recovers() && j.phase != filling:
		m.loseHolder(a, why)
	case j.phase == filling:
		m.log(slog.LevelWarn, "rank left before the start", append(a.attrs(), slog.String("why", why))...)
		m.leaveFilling(a, why)
	case j.phase == ending && a.complete && len(a.owed) == 0:
		// The rank only waited for the others, so its loss has no effect.
		m.log(slog.LevelInfo, "rank left after its work was done", append(a.attrs(), slog.String("why", why))...)
		m.do(CloseConn{a.conn})
		m.forget(a)
		m.advanceEnding(j)
	default:
		m.log(slog.LevelWarn, "rank lost", append(a.attrs(), slog.String("why", why))...)
		m.fail(j, protocol.Cause{Kind: protocol.CauseLost, Rank: a.rank, Host: a.host, Why: why})
	}
}

// leaveFilling frees a rank of a job that fills. The wiring remains valid: another attempt of the
// rank gets the same place in the tree.
func (m *Machine) leaveFilling(a *attempt, why string) {
	j := a.job
	m.do(CloseConn{a.conn})
	m.forget(a)
	j.departed[a.rank] = departure{host: a.host, why: why, at: m.Now}
	m.promote(j, a.rank)
	m.wire(j)
	m.closeEmpty(j)
}

// closeEmpty ends a job that fills and has no attempts left.
func (m *Machine) closeEmpty(j *job) {
	if j.phase == filling && len(j.holders) == 0 && len(j.spares) == 0 {
		m.log(slog.LevelInfo, "job closed: no ranks left", slog.String("job", j.id.String()))
		m.remove(j, jobClosed, j.lastDeparture())
	}
}

// fail ends a job for all its attempts, with one cause.
func (m *Machine) fail(j *job, why protocol.Cause) {
	why.Host, why.Why = protocol.Clip(why.Host, protocol.MaxHost), protocol.Clip(why.Why, protocol.MaxText)
	m.enter(j, failed)
	m.log(slog.LevelError, "job failed", slog.String("job", j.id.String()), slog.Int("rank", why.Rank), slog.String("host", why.Host), slog.String("why", why.Why))
	over := &protocol.EpochEndFrame{Epoch: j.epoch, Final: true, Cause: why}
	m.recordOutcome(j, over)
	for _, a := range j.everybody() {
		if !a.vw {
			m.send(a, over)
		}
	}
	how := jobFailed
	if why.Kind == protocol.CauseRefused && why.Code == protocol.Cancelled {
		how = jobCancelled
	}
	m.remove(j, how, why)
}

// onLeave ends an attempt without an error. In a job with vw workers this is the normal end of
// native ranks: vw's protocol has no COMPLETE.
func (m *Machine) onLeave(a *attempt, f *protocol.LeaveFrame) {
	j := a.job
	m.send(a, &protocol.FinishedFrame{Epoch: j.epoch})
	if !j.vwStream {
		why := "it left"
		if f.Reason != "" {
			why += ": " + f.Reason
		}
		m.lose(a, why)
		return
	}
	m.log(slog.LevelInfo, "rank left", append(a.attrs(), slog.String("reason", f.Reason))...)
	m.do(CloseConn{a.conn})
	m.forget(a)
	if j.native == 0 {
		m.log(slog.LevelInfo, "job ended", slog.String("job", j.id.String()))
		m.remove(j, jobFinished, protocol.Cause{})
	}
}

// onFail ends the job for all its attempts. The cause is the reason of the rank that gives up.
func (m *Machine) onFail(a *attempt, f *protocol.FailFrame) {
	m.log(slog.LevelWarn, "rank gave up", append(a.attrs(), slog.String("reason", f.Reason))...)
	if a.job.finish.receipt != 0 || !a.isHolder {
		m.lose(a, f.Reason) // all files are delivered, or another attempt holds the rank
		return
	}
	m.fail(a.job, protocol.Cause{Kind: protocol.CauseGaveUp, Rank: a.rank, Host: a.host, Why: f.Reason, Detail: f.Detail})
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
