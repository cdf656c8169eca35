// SPDX-License-Identifier: Apache-2.0

package core

import (
	"encoding/hex"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/gvw-project/gvw/internal/monitor/events"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// The end of a native job: COMPLETE from all ranks, with one digest; DELIVER to all, with the files
// that each owes; DELIVERED for each file; the record of the finished run, on disk; FINISHED. The
// loss of a rank that has delivered its files has no effect.

// onComplete processes COMPLETE. The first one moves the job to the phase ending.
func (m *Machine) onComplete(a *attempt, f *protocol.CompleteFrame) {
	j := a.job
	if j.recovers() {
		m.onCompleteRecovering(a, f)
		return
	}
	if !a.isHolder || j.vwStream || j.phase != wired && j.phase != ending || f.Epoch != j.epoch || a.complete {
		m.log(slog.LevelWarn, "COMPLETE ignored: not expected now", append(a.attrs(), slog.String("epoch", f.Epoch.String()))...)
		return
	}
	m.enter(j, ending)
	a.complete, a.model, a.owed = true, f.Model, f.Owed
	j.finish.completed++
	j.finish.owed += len(f.Owed)
	m.advanceEnding(j)
}

// onDelivered processes DELIVERED. A file counts only if the attempt still owes it, so a repeated
// frame has no effect.
func (m *Machine) onDelivered(a *attempt, f *protocol.DeliveredFrame) {
	j := a.job
	i := slices.Index(a.owed, f.File)
	delivers := a.deliverSent || a.rejoined && a.complete // a server before its restart has sent DELIVER
	if !delivers || f.Epoch != j.epoch && !j.recovers() || f.Attempt != a.number || i < 0 {
		m.log(slog.LevelWarn, "DELIVERED ignored: file not owed", append(a.attrs(), slog.String("file", f.File))...)
		return
	}
	a.owed = slices.Delete(a.owed, i, i+1)
	j.finish.owed--
	d := protocol.DeliveredFile{Rank: a.rank, File: f.File, SHA256: f.SHA256}
	j.finish.files = append(j.finish.files, d)
	if j.id.RunKey != "" {
		m.do(Persist{Record: &protocol.DeliveredRecord{RunKey: j.id.RunKey, Epoch: j.epoch, File: d}})
	}
	m.log(slog.LevelInfo, "file delivered", append(a.attrs(), slog.String("file", f.File))...)
	m.advanceEnding(j)
}

// advanceEnding advances an ending job as far as its members allow.
func (m *Machine) advanceEnding(j *job) {
	if j.phase != ending || j.finish.receipt != 0 || m.inGracePeriod(j) {
		return
	}
	// Do not wait for replacement ranks: the members that are COMPLETE have the model.
	replacing := 0 // replacements that are still behind
	for r := range j.losses.vacant {
		if j.holders[r] != nil {
			replacing++
		}
	}
	if j.finish.completed+replacing < len(j.holders) || j.recovers() && j.finish.completed == 0 {
		return
	}
	if !m.deliver(j) || j.finish.owed > 0 || len(j.losses.vacant) > 0 {
		return
	}
	if j.id.RunKey == "" {
		m.finish(j)
		return
	}
	m.receipts++
	j.finish.receipt, j.finish.sentAt = m.receipts, m.Now
	m.awaiting[j.finish.receipt] = j
	m.do(Persist{Receipt: j.finish.receipt, Record: j.finished(m.wall)})
}

// deliver sends DELIVER to all COMPLETE holders that have not got it, unless a lease delays it. It
// returns false if the models differ, which fails the job.
func (m *Machine) deliver(j *job) bool {
	all := slices.DeleteFunc(j.members(), func(a *attempt) bool { return !a.complete })
	if why := modelMismatch(all); why != "" {
		m.fail(j, protocol.Cause{Kind: protocol.CauseRefused, Code: protocol.ServerFault, Fault: events.FaultModels, Rank: -1, Why: why})
		return false
	}
	if len(all) > 0 {
		j.finish.model = all[0].model
	}
	j.finish.deliverSent, j.finish.leaseWaits = true, false
	for _, a := range all {
		switch {
		case a.deliverSent:
		case len(a.owed) > 0 && m.Now.Before(j.losses.leases[a.rank]):
			j.finish.leaseWaits = true // a lost attempt of the rank may still rename a file
		default:
			a.deliverSent = true
			m.send(a, &protocol.DeliverFrame{Epoch: j.epoch, Files: slices.Clone(a.owed)})
		}
	}
	return true
}

// modelMismatch describes the ranks whose models differ from that of the largest group; "": all are
// equal.
func modelMismatch(all []*attempt) string {
	by := map[[32]byte][]int{}
	for _, a := range all {
		by[a.model] = append(by[a.model], a.rank)
	}
	if len(by) <= 1 {
		return ""
	}
	var groups [][]int
	for _, group := range by {
		groups = append(groups, group)
	}
	slices.SortFunc(groups, func(a, b []int) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return a[0] - b[0]
	})
	model := func(rank int) string {
		i := slices.IndexFunc(all, func(a *attempt) bool { return a.rank == rank })
		return hex.EncodeToString(all[i].model[:6])
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the ranks hold different models: %s hold %s", protocol.Ranks(groups[0]), model(groups[0][0]))
	for i, g := range groups[1:] {
		if i == 3 {
			fmt.Fprintf(&b, ", … (%d models in all)", len(groups))
			break
		}
		fmt.Fprintf(&b, ", %s %s", protocol.Ranks(g), model(g[0]))
	}
	return b.String()
}

// finished returns the record of a run whose files are all delivered.
func (j *job) finished(now time.Time) *protocol.FinishedRecord {
	return &protocol.FinishedRecord{Job: j.id, Generation: j.generation, Total: uint32(j.total), Options: j.digest, Model: j.finish.model, At: now, Files: j.finish.files}
}

// onPersisted finishes a job whose record is on disk, or fails it if the record could not be written.
func (m *Machine) onPersisted(ev Persisted) {
	j := m.awaiting[ev.Receipt]
	delete(m.awaiting, ev.Receipt)
	switch {
	case j == nil:
	case j.phase != ending: // watchJournal has failed the job
		if ev.Err == nil {
			m.finished.Add(j.finished(m.wall)) // the journal has the record
		}
	case ev.Err != nil:
		m.fail(j, protocol.Cause{Kind: protocol.CauseRefused, Code: protocol.ServerFault, Fault: events.FaultJournal, Rank: -1, Why: fmt.Sprintf("the server cannot write its journal: %v", ev.Err)})
	default:
		m.finished.Add(j.finished(m.wall))
		m.finish(j)
	}
}

// watchJournal fails a job whose record does not reach the disk in time.
func (m *Machine) watchJournal(j *job) {
	if j.phase == ending && j.finish.receipt != 0 && m.Now.Sub(j.finish.sentAt) > m.JournalTimeout {
		m.fail(j, protocol.Cause{Kind: protocol.CauseRefused, Code: protocol.ServerFault, Fault: events.FaultJournal, Rank: -1, Why: fmt.Sprintf(
			"every file is delivered, but the journal has not recorded the end of the job within %v: check the disk of the server's journal", m.JournalTimeout)})
	}
}

// finish ends a job that has finished.
func (m *Machine) finish(j *job) {
	bye := &protocol.FinishedFrame{Epoch: j.epoch, Model: j.finish.model}
	m.recordOutcome(j, bye)
	for _, a := range j.attempts() {
		if !a.vw {
			m.send(a, bye)
		}
	}
	m.log(slog.LevelInfo, "job finished", slog.String("job", j.id.String()), slog.String("model", hex.EncodeToString(j.finish.model[:6])), slog.Int("files", len(j.finish.files)))
	m.remove(j, jobFinished, protocol.Cause{})
}
