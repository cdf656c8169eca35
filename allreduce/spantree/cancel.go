// SPDX-License-Identifier: Apache-2.0

package spantree

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"log/slog"
)

// onCancel ends a job because a person wants it so.
func (m *machine) onCancel(ev cancelling) {
	f := ev.cancel
	j, no := m.named(Job{f.UniqueID, f.RunKey})
	if no == nil && !j.ownedBy(f.Claim) {
		no = refuse(Unauthorised, "job %v has an owner: it is cancelled with the --job_token that its ranks were given", j.id)
		m.complain("cancelling refused: it is not the owner", slog.String("job", j.id.String()), slog.String("from", ev.from.host))
	}
	if no == nil && j.receipt != 0 {
		no = refuse(NoSuchJob, "job %v has just finished: its files are delivered", j.id)
	}
	if no != nil {
		m.do(sendFrame{ev.conn, &refusedFrame{Code: no.code, Reason: clip(no.reason, maxWords)}})
		m.do(hangUp{ev.conn})
		return
	}
	m.log(slog.LevelWarn, "job is cancelled", slog.String("job", j.id.String()), slog.String("from", ev.from.host), slog.String("reason", f.Reason))
	over := j.epoch
	m.fail(j, cause{Kind: causeRefused, Code: Cancelled, Rank: -1, Why: "cancelled: " + cmp.Or(f.Reason, "no reason was given")})
	m.do(sendFrame{ev.conn, &byeFrame{Epoch: over}})
	m.do(hangUp{ev.conn})
}

// ownedBy reports whether the claim is that of the job's owner, if it has one.
func (j *job) ownedBy(claim [32]byte) bool {
	digest := sha256.Sum256(claim[:])
	return j.owner == [32]byte{} || subtle.ConstantTimeCompare(digest[:], j.owner[:]) == 1
}

// named finds a job. An id alone is enough if one job has it.
func (m *machine) named(id Job) (*job, *refusal) {
	if j := m.jobs[id]; j != nil {
		return j, nil
	}
	var fits []*job
	for _, j := range m.order {
		if id.RunKey == "" && j.id.UniqueID == id.UniqueID {
			fits = append(fits, j)
		}
	}
	switch len(fits) {
	case 0:
		return nil, refuse(NoSuchJob, "there is no job %v here that fills or runs", id)
	case 1:
		return fits[0], nil
	}
	return nil, refuse(NoSuchJob, "%d jobs have the id %d (%v, %v, …): give the run key, too", len(fits), id.UniqueID, fits[0].id, fits[1].id)
}
