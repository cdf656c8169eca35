// SPDX-License-Identifier: Apache-2.0

package core

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"slices"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// onJoin admits or refuses an attempt of the native protocol.
func (m *Machine) onJoin(ev JoinReceived) {
	f := ev.Join
	// An attempt that names an epoch was a member before: its connection broke, or this server was restarted.
	if f.Epoch != (protocol.Epoch{}) {
		no, ended := m.checkEpoch(ev)
		switch {
		case no != nil:
			m.refuse(ev, no)
			return
		case ended != nil:
			m.sendEnd(ev, ended)
			return
		}
	}
	j, no := m.jobOfJoin(ev)
	if no != nil {
		m.refuse(ev, no)
		return
	}
	if j == nil {
		if over := m.failures.Take(f, m.Now); over != nil {
			m.log(slog.LevelWarn, "late rank was sent the end of its job", slog.String("job", f.Job().String()),
				slog.Int("rank", f.RankOrNone()), slog.String("from", ev.From.Host), slog.String("why", over.Cause.Why))
			m.sendEnd(ev, over)
			return
		}
		if j, no = m.open(f.Job(), int(f.Total), f.Generation); no != nil {
			m.refuse(ev, no)
			return
		}
	}
	if a := j.returning(f); a != nil {
		m.reconnect(a, ev)
		return
	}
	// A refused attempt must not configure the job: it would rename a job of vw workers, which have no run key.
	if no := j.checkEarlier(f); no != nil {
		m.refuse(ev, no)
		return
	}
	a := m.newAttempt(ev, j)
	if !j.configured() {
		m.configure(j, f)
	}
	m.learnMembers(j, f)
	// The job's state before the restart comes from the attempts that report it, so such an attempt is not admitted
	// as a new one.
	if f.Epoch != (protocol.Epoch{}) {
		if no := m.rejoin(a, f); no != nil {
			m.refuse(ev, no)
			return
		}
		m.advance(j)
		return
	}
	if a.rank < 0 {
		m.keepSpare(a)
		return
	}
	// jobOfJoin has refused the attempt unless the rank is free or may have standbys.
	if j.recovers() && !j.free(a.rank) {
		m.standBy(a)
		m.send(a, a.joinedFrame())
		m.replaceOnEvictedHost(a)
		m.notifyStandbys(j, a.rank)
		return
	}
	m.admit(a)
	m.send(a, a.joinedFrame())
	m.decideMembers(j)
}

// newAttempt returns the attempt that JOIN describes, which the job does not have yet.
func (m *Machine) newAttempt(ev JoinReceived, j *job) *attempt {
	f := ev.Join
	return &attempt{
		conn: ev.Conn, job: j, rank: f.RankOrNone(), number: f.Attempt, from: ev.From, host: cmp.Or(f.Host, ev.From.Host),
		advertise: f.AdvertiseHost, port: f.Port, hasPort: true, capabilities: f.Capabilities, version: f.Version, lastFrame: m.Now,
		// A rank is silent between two heartbeats. The limit is at least two intervals, so that one
		// delayed heartbeat is no loss.
		lostAfter:  min(max(cmp.Or(f.LostAfter, m.LostAfter), 2*f.Heartbeat), m.IdleFor),
		epochState: epochState{generation: f.Generation, ackedAt: m.Now},
	}
}

// configure sets the agreement of a job to that of its first native attempt.
func (m *Machine) configure(j *job, f *protocol.JoinFrame) {
	j.policy, j.replaceTimeout, j.slowFactor = f.OnLoss, cmp.Or(f.ReplaceTimeout, m.ReplaceTimeout), f.SlowFactor
	j.options, j.digest, j.generation, j.owner = f.Options, f.OptionsSHA256, f.Generation, f.Owner
	j.startTimeout = f.Elastic
	m.rename(j, f.Job())
}

// sendEnd sends an attempt the end of its job, EPOCH_END or FINISHED.
func (m *Machine) sendEnd(ev JoinReceived, end protocol.Frame) {
	m.do(SendFrame{ev.Conn, &protocol.JoinedFrame{Attempt: ev.Join.Attempt, LostAfter: ev.Join.LostAfter}})
	m.do(SendFrame{ev.Conn, end})
	m.do(CloseConn{ev.Conn})
}

// refuse refuses a JOIN: it sends REFUSED, closes the connection, and counts the refusal for the
// status.
func (m *Machine) refuse(ev JoinReceived, no *refusal) {
	f := ev.Join
	m.refused.Add(f, no, m.Now)
	if j := m.jobs[f.Job()]; j != nil && (no.Code == protocol.OptionsDiffer || no.Code == protocol.TotalDiffers) {
		j.refusals.count++ // counted for each further attempt with the same values, too
		j.refusals.newest = no.Reason
	}
	m.logRefusal("rank refused", slog.String("from", ev.From.Host), slog.String("job", f.Job().String()),
		slog.Int("rank", f.RankOrNone()), slog.String("reason", no.Reason))
	m.do(SendFrame{ev.Conn, &protocol.RefusedFrame{Code: no.Code, Model: no.Model, Reason: protocol.Clip(no.Reason, protocol.MaxText)}})
	m.do(CloseConn{ev.Conn})
}

// checkJoin refuses a JOIN whose values contradict each other or the limits of the server.
func (m *Machine) checkJoin(f *protocol.JoinFrame) *refusal {
	if f.OptionsSHA256 != sha256.Sum256([]byte(f.Options)) {
		return refuse(protocol.Malformed, "options_sha256 is not the digest of the options %q", protocol.Clip(f.Options, 200))
	}
	if f.OnLoss > protocol.Open {
		return refuse(protocol.Malformed, "%v: want 0 (abort), 1 (wait), 2 (shrink), 3 (grow) or 4 (open)", f.OnLoss)
	}
	if f.OnLoss == protocol.Open && f.Elastic == 0 {
		return refuse(protocol.Malformed, "an open job is elastic: want a time after which it starts without missing ranks")
	}
	rank := uint64(f.Rank)
	if f.Spare() {
		if no := checkSpare(f); no != nil {
			return no
		}
		rank = 0
	}
	if no := m.checkRank(rank, uint64(f.Total)); no != nil {
		return no
	}
	return checkElastic(f)
}

// jobOfJoin returns the job that JOIN is for, or a refusal; neither if there is no such job. The checks of the frame
// itself and of finished runs come first, so that an attempt that they refuse neither opens nor ends a job.
func (m *Machine) jobOfJoin(ev JoinReceived) (*job, *refusal) {
	f := ev.Join
	if no := m.checkJoin(f); no != nil {
		return nil, no
	}
	if no := m.checkFinished(f); no != nil {
		return nil, no
	}
	j := m.jobs[f.Job()]
	if j == nil && f.RunKey != "" {
		// Earlier vw workers may have opened the job without its key.
		if k := m.jobs[protocol.Job{UniqueID: f.UniqueID}]; k != nil && k.phase == filling && k.native == 0 {
			j = k
		}
	}
	// An attempt of another owner ends neither an older generation nor a job without ranks.
	if j != nil && j.hasOwner() {
		if no := j.checkOwner(f); no != nil {
			return nil, no
		}
	}
	if j != nil && j.empty() && (j.generation > f.Generation || j.checkAgreement(f) != nil) {
		// No attempt is left with which this one could disagree.
		m.log(slog.LevelInfo, "job closed: no ranks left", slog.String("job", j.id.String()))
		m.remove(j, jobFailed, j.abandoned())
		j = nil
	}
	// An attempt that the job already has does not fence it, whatever generation it names.
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
		return nil, nil
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
	if f.OnLoss == protocol.Open && j.mixed() {
		return nil, refuse(protocol.RankHeld, "vw workers are in job %v: it waits for all ranks, and cannot be open", j.id)
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

// open makes a job, or refuses it at a limit of the server.
func (m *Machine) open(id protocol.Job, total int, generation uint32) (*job, *refusal) {
	// At the limit a job of which no attempt is left makes room: its ranks may never return.
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
	if m.Now.Before(m.graceUntil) {
		j.restart.graceUntil = m.graceUntil
	}
	if p := m.outcomes.Find(id); p != nil {
		j.restart.lastN = p.Epoch.N // epochs continue, so that attempts of the earlier job are not accepted as this job's
	}
	j.earlier = m.failures.Remove(id, m.Now)
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
