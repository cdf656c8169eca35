// SPDX-License-Identifier: Apache-2.0

package run

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/internal/flags"
	"github.com/gvw-project/gvw/internal/train"
)

// settings returns the options of this rank's worker. Each rank computes its own, so nothing may depend on the others. An
// error is a UsageError.
func (j *joined) settings(s, job *cli.Settings) (*cli.Settings, error) {
	for _, name := range slices.Concat(flags.ClusterNeeded, []string{"span_server_port", "shard", "generation", "spare"}) {
		if job.Has(name) {
			return nil, cli.Usagef("--%s is found by gvw run --join itself: leave it out (a server is given by --join=HOST:PORT, a division of the data by --shard before --)", name)
		}
	}
	for _, name := range []string{"audit", "invert_hash"} {
		if job.Has(name) {
			return nil, cli.Usagef("gvw run: --%s needs names, and each worker has only those of its share: train with -f MODEL, then run gvw -d FILE -t -i MODEL --%s", name, name)
		}
	}
	for _, name := range []string{"predictions", "raw_predictions", "timeline", "record"} {
		if file := job.Get(name); file != "" && !strings.Contains(file, files.RankMark) && !slices.Contains(files.StdoutNames, file) {
			return nil, cli.Usagef("gvw run --join: --%s %s: all ranks would write it: give each its own file (%s.{rank})", name, file, file)
		}
	}
	kind := "bytes"
	if s.Has("shard") {
		kind = s.Get("shard")
	}
	var p plan
	if err := p.divideData(localJob{workers: j.at.Total, shard: kind, shardGiven: s.Has("shard")}, job); err != nil {
		return nil, err
	}
	rank := strconv.Itoa(j.at.Rank)
	w := job.Clone()
	w.Launcher = "gvw run --join"
	for name, value := range map[string]string{
		"span_server": j.meeting.host, "span_server_port": strconv.Itoa(j.meeting.port), "run_id": j.job.RunKey,
		"unique_id": strconv.FormatUint(j.job.UniqueID, 10), "total": strconv.Itoa(j.at.Total), "node": rank, "on_loss": j.onLoss,
	} {
		w.Set(name, value)
	}
	if j.at.Generation > 0 {
		w.Set("generation", strconv.FormatUint(uint64(j.at.Generation), 10))
	}
	if j.meeting.secretFile != "" {
		w.Set("secret_file", j.meeting.secretFile)
	}
	if !p.own {
		w.Set("shard", p.kind.String())
	}
	if !w.Has("bind") && !w.Has("advertise") && j.meeting.local() && j.at.First == "127.0.0.1" {
		w.Set("bind", "127.0.0.1")
	}
	files.NameCache(w, rank, p.own)
	// Any rank may be the last one where lost ranks, or ranks that come late, are left out.
	anyone := j.onLoss == "shrink" || j.onLoss == "grow" || w.Has("elastic")
	for _, name := range files.OnceFiles {
		once := !anyone || name == "log_json"
		if j.at.Rank > 0 && once && w.Has(name) && !strings.Contains(w.Get(name), files.RankMark) {
			files.LeaveOut(w, name)
		}
	}
	files.FillRank(w, j.at.Rank)
	return w, train.Check(w)
}
