// SPDX-License-Identifier: Apache-2.0

package core

import (
	"fmt"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// refusal is a refusal with its reason, of any length. Both protocols share the rules that return
// it, and each sends it in its own form.
type refusal = protocol.RefusedFrame

func refuse(code protocol.Code, format string, args ...any) *refusal {
	return &refusal{Code: code, Reason: fmt.Sprintf(format, args...)}
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

// checkAgreement refuses an attempt that disagrees with the job's other ranks.
func (j *job) checkAgreement(f *protocol.JoinFrame) *refusal {
	switch {
	case int(f.Total) != j.total:
		return refuse(protocol.TotalDiffers, "total %d differs from that of the job, %d", f.Total, j.total)
	case f.OptionsSHA256 != j.digest:
		return refuse(protocol.OptionsDiffer, "options differ from those of the job's other ranks: %s", protocol.DiffOptions(f.Options, j.options))
	case f.Owner != j.owner:
		return j.checkOwner(f)
	case f.OnLoss != j.policy:
		return refuse(protocol.OptionsDiffer, "options differ from those of the job's other ranks: on_loss=%v here, on_loss=%v there", f.OnLoss, j.policy)
	case f.Elastic != j.startTimeout:
		return refuse(protocol.OptionsDiffer, "options differ from those of the job's other ranks: elastic start after %v here, after %v there (0s: never)", f.Elastic, j.startTimeout)
	case f.ReplaceTimeout != 0 && f.ReplaceTimeout != j.replaceTimeout && j.policy != protocol.Abort:
		return refuse(protocol.OptionsDiffer, "options differ from those of the job's other ranks: replace_timeout=%v here, replace_timeout=%v there", f.ReplaceTimeout, j.replaceTimeout)
	}
	return nil
}

// checkOwner refuses an attempt of another owner.
func (j *job) checkOwner(f *protocol.JoinFrame) *refusal {
	if f.Owner == j.owner {
		return nil
	}
	return refuse(protocol.OptionsDiffer, "options differ from those of the job's other ranks: the job tokens are different, or some ranks lack theirs")
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

// checkSpare refuses a spare that the job cannot use.
func checkSpare(f *protocol.JoinFrame) *refusal {
	switch {
	case f.OnLoss != protocol.Wait:
		return refuse(protocol.Malformed, "a spare of a job with on_loss=%v: only a job that waits for replacements (wait) can use one", f.OnLoss)
	case f.Epoch != protocol.Epoch{}:
		return refuse(protocol.Malformed, "a spare in epoch %v: spares have no rank", f.Epoch)
	}
	return nil
}

// checkRoom refuses a spare above the limit.
func (j *job) checkRoom() *refusal {
	if n := len(j.spares); n >= maxSpares {
		return refuse(protocol.RankHeld, "job %v has %d spares, the limit", j.id, n)
	}
	return nil
}

// checkStandby refuses an attempt that can be neither holder nor standby.
func (j *job) checkStandby(rank int, number uint64) *refusal {
	if why, ok := j.evictions.attempts[number]; ok {
		return refuse(protocol.AttemptFenced, "this attempt of rank %d was evicted: %s", rank, why)
	}
	if j.free(rank) {
		return nil
	}
	if a := j.holders[rank]; a != nil && a.vw {
		return refuse(protocol.RankHeld, "rank %d of job %v is held by a vw worker, on %s", rank, j.id, a.host)
	}
	if n := len(j.standbys[rank]); n >= maxStandbys {
		return refuse(protocol.RankHeld, "%d attempts of rank %d of job %v are standbys, the limit", n, rank, j.id)
	}
	return nil
}

// checkShard refuses a replacement that has read other data than the attempt that it would replace:
// its contributions would not be that rank's.
func (j *job) checkShard(a *attempt, s protocol.Shard) *refusal {
	want, known := j.wiring.shards[a.rank]
	if b := j.holders[a.rank]; !known && b != nil && b != a && b.ready {
		want = b.shard
	}
	want.Took, s.Took = 0, 0 // the time to read the data does not identify them
	if want == (protocol.Shard{}) || want == s {
		return nil
	}
	return refuse(protocol.ShardDiffers, "rank %d has read %v here, the attempt to replace has read %v: use the same input", a.rank, s, want)
}
