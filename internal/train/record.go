// SPDX-License-Identifier: Apache-2.0

package train

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/flags"
	"github.com/gvw-project/gvw/internal/launch"
	"github.com/gvw-project/gvw/internal/record"
	"github.com/gvw-project/gvw/internal/timeline"
	"github.com/gvw-project/gvw/learn"
)

// recording is the record of this process (--record).
type recording struct {
	*record.Writer
	waited atomic.Int64 // nanoseconds in which passes have waited for examples
	before int64        // the same at the end of the last step
	ended  time.Time    // of the last step
	steps  int          // completed, by this process
	alone  bool         // the process has no job, and a pass is a step
}

// takeRecord starts the record of this process, or returns nil without --record. It sets the hooks of cfg, except the log.
func (l *Learner) takeRecord(c *cli.Context, cfg *learn.Config, fsys hdfsio.FS) (*recording, error) {
	name := c.String("record")
	if name == "" {
		return nil, nil
	}
	id, join := record.ID(rand.Uint64(), "alone"), cfg.Cluster.Join
	attempt := l.attempt()
	again := false
	if join != nil {
		id = record.ID(join.Job.UniqueID, join.Job.RunKey)
		again = join.Job.RunKey != "" || attempt > 1 // without a name of the run, an earlier run may have the same number
	}
	w, fresh, err := l.files.Record(hdfsio.Local{Perm: cfg.Data.CacheMode}, name, l.rank, id, again)
	if err != nil {
		return nil, err
	}
	r := &recording{Writer: w, ended: time.Now(), alone: join == nil}
	if fresh {
		ranks := 1
		if join != nil {
			ranks = join.Total
		}
		r.Add(RecordedRun(c.Context, fsys, id, ranks, c.All))
	}
	r.Add(record.ThisMachine(attempt))
	cfg.Diagnostics.Waited, cfg.Diagnostics.Vectors = &r.waited, r.vectors
	if l.rank == 0 || join.OnLoss == allreduce.Shrink || join.OnLoss == allreduce.Open { // rank 0 may be lost
		cfg.Metrics.PassLog = also(cfg.Metrics.PassLog, passes{r})
	}
	if join != nil {
		join.Timeline = &timeline.Meter{Trace: join.Timeline, Step: r.step}
	}
	return r, nil
}

// attempt returns the number of this process among those of its rank. Without a launcher that restarts processes it is 0.
func (l *Learner) attempt() uint64 {
	n, _ := strconv.ParseUint(l.Getenv(launch.EnvAttempt), 10, 32)
	return n
}

// RecordedRun returns the first event of a record. get returns the values of an option.
func RecordedRun(ctx context.Context, fsys hdfsio.FS, id string, ranks int, get func(option string) []string) *record.Run {
	run := &record.Run{Version: record.Version, ID: id, Program: strings.SplitN(cli.Version(), "\n", 2)[0], Go: runtime.Version(), Ranks: ranks, Options: map[string][]string{}}
	for _, s := range flags.Learn {
		if values := get(s.Name); len(values) > 0 {
			run.Options[s.Name] = values
		}
	}
	for _, name := range get("data") {
		f := record.File{Name: name}
		if info, err := fsys.Stat(ctx, name); err == nil && info.Mode.IsRegular() { // stdin and {rank} have no size
			f.Bytes, f.Modified = info.Size, record.Seconds(info.Modified)
		}
		run.Data = append(run.Data, f)
	}
	return run
}

// also returns a writer to both; w may be nil.
func also(w, other io.Writer) io.Writer {
	if w == nil {
		return other
	}
	return io.MultiWriter(w, other)
}

// log returns a logger to which the record listens, too. The messages of all ranks are much alike, so ranks except 0 record
// warnings only.
func (r *recording) log(to *slog.Logger, rank int) *slog.Logger {
	if r == nil {
		return to
	}
	level := slog.LevelInfo
	if rank > 0 {
		level = slog.LevelWarn
	}
	return slog.New(slog.NewMultiHandler(to.Handler(), record.NewHandler(r.Writer, level)))
}

// read returns the time in which passes have waited for examples since the last step.
func (r *recording) read() time.Duration {
	now := r.waited.Load()
	d := now - r.before
	r.before = now
	return time.Duration(d)
}

// step records a step of a job.
func (r *recording) step(t timeline.StepTimes) {
	r.steps++
	read := min(r.read(), t.Parts[timeline.Computes])
	r.Add(&record.Step{
		Head: record.Head{Time: record.Seconds(t.Ended)}, First: r.steps, Last: r.steps, Began: record.Seconds(t.Began),
		Seconds: record.Times{
			Read: read.Seconds(), Compute: (t.Parts[timeline.Computes] - read).Seconds(), Update: t.Parts[timeline.Updates].Seconds(),
			Network: t.Parts[timeline.Communicates].Seconds(), Wait: t.Parts[timeline.Waits].Seconds(),
		},
		Sent: t.Sent, Received: t.Received, Via: t.Via,
	})
}

// vectors records what shared vectors have exchanged.
func (r *recording) vectors(x learn.Exchanged) {
	e := &record.Vectors{
		Began: record.Seconds(x.Began), Rounds: x.Rounds, Sent: x.Updates.Sent, Dropped: x.Updates.Dropped, Received: x.Updates.Received,
		Overwritten: x.Updates.Overwritten, Damaged: x.Updates.Damaged, Merged: x.Updates.Merged, Behind: x.Updates.Behind, Oldest: x.Updates.Oldest,
	}
	for _, b := range x.Edges {
		e.Edges = append(e.Edges, record.Edge{Peer: b.Rank, Via: b.Via, Local: b.Local, Sent: b.Sent, Received: b.Received})
	}
	r.Add(e)
}

// passes records the lines of --log_json.
type passes struct{ *recording }

func (p passes) Write(line []byte) (int, error) {
	var e record.Pass
	if err := json.Unmarshal(line, &e); err != nil {
		return 0, fmt.Errorf("cannot record a pass: %w", err)
	}
	p.Add(&e)
	if p.alone {
		now := time.Now()
		p.steps++
		took, read := now.Sub(p.ended), p.read()
		p.Add(&record.Step{
			Head: record.Head{Time: record.Seconds(now)}, First: p.steps, Last: p.steps, Began: record.Seconds(p.ended),
			Seconds: record.Times{Read: min(read, took).Seconds(), Compute: (took - min(read, took)).Seconds()},
		})
		p.ended = now
	}
	return len(line), nil
}

// end ends the record. A record that could not be written is no reason to fail the run.
func (r *recording) end(report *learn.Report, err error, log *slog.Logger) {
	if r == nil {
		return
	}
	if report != nil {
		if s := report.Shard; s.Bytes > 0 {
			r.Add(&record.Data{Examples: s.Examples, Bytes: s.Bytes, CRC: fmt.Sprintf("%08x", s.CRC)})
		}
		e := &record.End{Passes: report.Passes}
		if report.Digest != [32]byte{} {
			e.Model = hex.EncodeToString(report.Digest[:])
		}
		if err == nil {
			r.Add(e)
		}
	}
	if werr := r.Close(err); werr != nil && log != nil {
		log.Warn("the record is incomplete", "error", strings.TrimSpace(werr.Error()))
	}
}
