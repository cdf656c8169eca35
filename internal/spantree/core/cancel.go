// SPDX-License-Identifier: Apache-2.0

package core

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"log/slog"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// onCancel ends a job on request of a user.
func (m *Machine) onCancel(ev CancelRequested) {
	f := ev.Cancel
	j, no := m.named(protocol.Job{UniqueID: f.UniqueID, RunKey: f.RunKey})
	if no == nil && !j.ownedBy(f.Claim) {
		no = refuse(protocol.Unauthorised, "job %v has an owner: cancel it with the job token of its ranks", j.id)
		m.logRefusal("cancellation refused: wrong owner", slog.String("job", j.id.String()), slog.String("from", ev.From.Host))
	}
	if no == nil && j.finish.receipt != 0 {
		no = refuse(protocol.NoSuchJob, "job %v has just finished: its files are delivered", j.id)
	}
	if no != nil {
		m.do(SendFrame{ev.Conn, &protocol.RefusedFrame{Code: no.Code, Reason: protocol.Clip(no.Reason, protocol.MaxText)}})
		m.do(CloseConn{ev.Conn})
		return
	}
	m.log(slog.LevelWarn, "job cancelled", slog.String("job", j.id.String()), slog.String("from", ev.From.Host), slog.String("reason", f.Reason))
	over := j.epoch
	m.fail(j, protocol.Cause{Kind: protocol.CauseRefused, Code: protocol.Cancelled, Rank: -1, Why: "cancelled: " + cmp.Or(f.Reason, "no reason was given")})
	m.do(SendFrame{ev.Conn, &protocol.FinishedFrame{Epoch: over}})
	m.do(CloseConn{ev.Conn})
}

// ownedBy reports whether the claim is that of the job's owner, or the job has none. It takes the
// same time for each wrong claim.
func (j *job) ownedBy(claim [32]byte) bool {
	digest := sha256.Sum256(claim[:])
	return j.owner == [32]byte{} || subtle.ConstantTimeCompare(digest[:], j.owner[:]) == 1
}

// named returns the job with this name. Without a run key, the only job with the id.
func (m *Machine) named(id protocol.Job) (*job, *refusal) {
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
		return nil, refuse(protocol.NoSuchJob, "there is no job %v that fills or runs", id)
	case 1:
		return fits[0], nil
	}
	return nil, refuse(protocol.NoSuchJob, "%d jobs have the id %d (%v, %v, …): give the run key, too", len(fits), id.UniqueID, fits[0].id, fits[1].id)
}
