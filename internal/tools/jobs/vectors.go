// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"errors"
	"slices"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/learn"
)

// cancelBoth cancels a job and that of its shared vectors, if it has one. The vectors may be left of a job whose
// collectives have ended.
func cancelBoth(job protocol.Job, cancel func(protocol.Job) error) error {
	err := cancel(job)
	if err != nil && !isMissing(err) {
		return err
	}
	if vectors := cancel(learn.VectorsJob(job)); !isMissing(vectors) {
		return vectors
	}
	return err
}

// isMissing reports whether the server has refused a cancellation since there is no such job.
func isMissing(err error) bool {
	refused, ok := errors.AsType[*protocol.RefusedError](err)
	return ok && refused.Code == protocol.NoSuchJob
}

// withVectors returns the jobs of a server in which each job with --malt is one job: that of its shared vectors is no
// entry of its own. Its state follows that of the job, and what its ranks wait for is listed with the job.
func withVectors(st *protocol.ServerStatus) *protocol.ServerStatus {
	vectors := map[protocol.Job]protocol.Job{} // from the job of the vectors to that of the run
	for _, j := range st.Jobs {
		id := protocol.Job{UniqueID: j.UniqueID, RunKey: j.RunKey}
		vectors[learn.VectorsJob(id)] = id
	}
	for _, e := range st.Ended {
		id := protocol.Job{UniqueID: e.UniqueID, RunKey: e.RunKey}
		vectors[learn.VectorsJob(id)] = id
	}
	all := *st
	all.Jobs = slices.Clone(st.Jobs)
	for _, v := range st.Jobs {
		id, is := vectors[protocol.Job{UniqueID: v.UniqueID, RunKey: v.RunKey}]
		i := slices.IndexFunc(all.Jobs, func(j protocol.JobStatus) bool { return j.UniqueID == id.UniqueID && j.RunKey == id.RunKey })
		if !is || i < 0 {
			continue
		}
		j := &all.Jobs[i]
		if v.State == "recovering" {
			j.Report = v.Report
		}
		j.State += ", vectors " + v.State
		j.Ranks = slices.Clone(j.Ranks)
		for k := range j.Ranks {
			for _, r := range v.Ranks {
				if r.Rank == j.Ranks[k].Rank && j.Ranks[k].Waits == "" && isHolder(r) && isHolder(j.Ranks[k]) {
					j.Ranks[k].Waits = r.Waits
				}
			}
		}
	}
	all.Jobs = slices.DeleteFunc(all.Jobs, func(j protocol.JobStatus) bool {
		_, is := vectors[protocol.Job{UniqueID: j.UniqueID, RunKey: j.RunKey}]
		return is
	})
	all.Ended = slices.DeleteFunc(slices.Clone(st.Ended), func(e protocol.EndedJob) bool {
		_, is := vectors[protocol.Job{UniqueID: e.UniqueID, RunKey: e.RunKey}]
		return is
	})
	return &all
}
