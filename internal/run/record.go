// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/internal/launch"
	"github.com/gvw-project/gvw/internal/record"
	"github.com/gvw-project/gvw/internal/train"
)

// takeRecord starts the record of the run, to which the workers append (--record). It returns nil without the option, and
// if each rank has a file of its own.
func (p *launcher) takeRecord(ctx context.Context, fsys hdfsio.FS, s *cli.Settings, job localJob) (*record.Writer, error) {
	name := s.Get("record")
	if name == "" || files.HasRank(name) {
		return nil, nil
	}
	id := record.ID(job.uniqueID, job.id)
	w, _, err := p.files.Record(hdfsio.Local{Perm: files.FileMode(s.Get("mode"))}, name, launcherRank, id, false)
	if err != nil {
		return nil, err
	}
	w.Add(train.RecordedRun(ctx, fsys, id, job.workers, s.All))
	return w, nil
}

// launcherRank is the rank of the launcher in a record.
const launcherRank = -1

// recordDeath records that a process has ended.
func (j *processes) recordDeath(r launch.Result) {
	j.record.Add(&record.Message{Level: "ERROR", Text: fmt.Sprintf("%s has ended (%s)", j.plan.name(r.Rank), j.logs.howEnded(r)), Fields: fmt.Sprintf("attempt=%d", r.Attempt)})
}
