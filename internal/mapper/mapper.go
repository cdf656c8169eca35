// SPDX-License-Identifier: Apache-2.0

package mapper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/internal/flags"
	"github.com/gvw-project/gvw/internal/hadoop"
	"github.com/gvw-project/gvw/internal/launch"
	"github.com/gvw-project/gvw/internal/train"
)

// mapperCache is the cache of a mapper. The name is relative to the working directory of the
// container, which YARN removes with the container.
const mapperCache = "gvw.cache"

// mapperReplace is the default of --replace_timeout in a job of maps. YARN notices a lost node
// after 10 minutes, and then tries to reach it for 3 more, before it starts another attempt.
const mapperReplace = "30m0s"

// maxMapperLog bounds the log that is kept in memory for --log, in bytes.
const maxMapperLog = 16 << 20

// Command runs gvw mapper.
func Command(ctx context.Context, p *cli.Process, c *cli.Command, args []string) error {
	s, err := c.Sets[0].Read(p, args)
	if s == nil {
		return err
	}
	switch {
	case len(s.Words) > 0:
		return cli.Usagef("%q: the learner's options come after --, as in: gvw mapper -- --hybrid 2:18 -f model", s.Words[0])
	case s.Rest == nil:
		return cli.Usagef("gvw mapper: the learner's options come after --, as in: gvw mapper -- --hybrid 2:18 -f model")
	}
	task, ok, err := hadoop.Parse(p.Env)
	switch {
	case err != nil:
		return cli.Usagef("%w", err)
	case !ok:
		return cli.Usagef("gvw mapper: this is no map task of Hadoop's: mapreduce_task_attempt_id is not set (elsewhere write gvw without mapper; scripts/mapscript.sh submits a job)")
	}
	if s.Has("phase") {
		task.Job += "." + s.Get("phase")
	}
	m := newMapper(task, p.Stderr)
	m.phased = s.Has("phase")
	p.Stderr = m.lines
	p.Env = append(p.Env, launch.EnvAttempt+"="+strconv.Itoa(task.Attempt+1)) // for faults
	defer m.close()
	err = m.learn(ctx, p, s)
	m.drain(p.Stdin, err, context.Cause(ctx) != nil)
	files := files.New(p)
	fsys := files.System(s.Get, true)
	if err != nil {
		return m.failed(context.WithoutCancel(ctx), err, fsys)
	}
	m.done()
	if name := s.Get("log"); name != "" && task.Rank == 0 {
		return m.keepLog(files.Creator(context.WithoutCancel(ctx), m.Within(fsys), task.Rank), m.inOut(name))
	}
	return nil
}

// learn runs the learner in a map task.
func (m *mapTask) learn(ctx context.Context, p *cli.Process, s *cli.Settings) error {
	job, err := cli.Parse(s.Flags.Table.Learner, s.Rest, p.Env, os.ReadFile)
	if err != nil {
		return err
	}
	if job.Has("help") || job.Has("version") {
		return cli.Usagef("gvw mapper: --help and --version come before --")
	}
	train.Note(p, job)
	train.TakeData(p, job)
	if err := m.fillOptions(job, p.Getenv); err != nil {
		return err
	}
	if err := train.Check(job); err != nil {
		return err
	}
	m.printf("%s of job %s: rank %d of %d, server %s, split %s", m.task.ID, m.task.Job, m.task.Rank, m.task.Total, job.Get("span_server"), m.task.Split)
	l := train.New(p)
	l.Task = m
	err = job.Dispatch(ctx, l.Learn)
	if cause, ok := context.Cause(ctx).(*cli.Interruption); ok && err != nil {
		return cause
	}
	return err
}

// fillOptions fills in the options that Hadoop determines, and refuses them if the user gives
// them.
func (m *mapTask) fillOptions(job *cli.Settings, getenv func(string) string) error {
	t := &m.task
	var errs []error
	for _, name := range []string{"unique_id", "total", "node", "run_id", "generation"} {
		if job.Has(name) {
			errs = append(errs, cli.Usagef("gvw mapper: --%s is determined by Hadoop: leave it out", name))
		}
	}
	if job.Get("driver_output") == "stdout" {
		errs = append(errs, cli.Usagef("gvw mapper: --driver_output stdout: stdout is the output of the task: leave it out"))
	}
	for _, name := range []string{"audit", "invert_hash"} {
		if job.Has(name) {
			errs = append(errs, cli.Usagef("gvw mapper: --%s needs names, and each rank knows those of its own split only: train with -f MODEL, then run gvw -d FILE -t -i MODEL --%s", name, name))
		}
	}
	if job.Has("elastic") && m.phased {
		errs = append(errs, cli.Usagef("gvw mapper: --elastic with --phase: each call would determine its own members, and a rank excluded from one call lacks the state for the next: --hybrid does all in one call"))
	}
	if job.Has("timeline") {
		errs = append(errs, cli.Usagef("gvw mapper: --timeline would go with the container: leave it out"))
	}
	if job.Has("record") {
		errs = append(errs, cli.Usagef("gvw mapper: --record would go with the container: leave it out"))
	}
	if job.Has("log_json") {
		errs = append(errs, cli.Usagef("gvw mapper: --log_json would go with the container: the task's status has pass and loss"))
	}
	set := func(name, value string) {
		if !job.Has(name) && value != "" {
			job.Set(name, value)
		}
	}
	if !job.Has("span_server") {
		job.Launcher = "gvw mapper"
	}
	set("span_server", getenv("gvw_span_server"))
	set("span_server", t.SubmitHost)
	set("span_server_port", getenv("gvw_span_server_port"))
	set("unique_id", strconv.FormatUint(t.Number, 10))
	set("run_id", t.Job)
	set("total", strconv.Itoa(t.Total))
	set("node", strconv.Itoa(t.Rank))
	if t.Generation > 1 { // the first ApplicationMaster is number 1
		set("generation", strconv.FormatUint(uint64(t.Generation-1), 10))
	}
	set("on_loss", "wait")
	if out := localName(t.Out); job.Get("on_loss") != "abort" && out != "" {
		// A late attempt of rank 0 copies from there, in case Hadoop counts that attempt.
		set("run_dir", out+"/"+train.BesideModel)
	}
	if job.Get("on_loss") != "abort" {
		set("replace_timeout", mapperReplace)
	}
	if job.Has("cache") && !job.Has("cache_file") {
		job.Set("cache")
		job.Set("cache_file", mapperCache)
	}
	if passes := job.Get("passes"); job.Has("hybrid") || passes != "" && passes != "1" {
		set("cache_file", mapperCache)
	}
	for _, name := range []string{"data", "initial_regressor", "input_feature_regularizer", "cache_file"} {
		values := job.All(name)
		for i, v := range values {
			values[i] = strings.ReplaceAll(v, files.RankMark, strconv.Itoa(t.Rank))
		}
	}
	anyone := job.Get("on_loss") == "shrink" || job.Get("on_loss") == "grow" || job.Has("elastic") // rank 0 may be missing: any rank may have to write them
	for _, name := range files.OnceFiles {
		switch file := job.Get(name); {
		case file == "":
		case t.Rank > 0 && !anyone && !strings.Contains(file, files.RankMark):
			files.LeaveOut(job, name) // rank 0 writes the same bytes
		default:
			job.Set(name, m.inOut(file))
		}
	}
	for _, name := range []string{"predictions", "raw_predictions"} {
		switch file := job.Get(name); {
		case file == "" || slices.Contains(files.StdoutNames, file):
		case !strings.Contains(file, files.RankMark):
			errs = append(errs, cli.Usagef("gvw mapper: --%s %s: each rank has its own: %s.{rank}, or stdout, which is OUT/part-00000 and so on", name, file, file))
		default:
			job.Set(name, m.inOut(file))
		}
	}
	return errors.Join(errs...)
}

// inOut returns the name of a file among the outputs of this attempt, unless the name is
// absolute. The file becomes part of the job's output if Hadoop counts the attempt.
func (m *mapTask) inOut(name string) string {
	name = strings.ReplaceAll(name, files.RankMark, strconv.Itoa(m.task.Rank))
	if slices.Contains(files.StdoutNames, name) || path.IsAbs(name) || strings.Contains(name, "://") || m.task.Work == "" {
		return name
	}
	return localName(m.task.Work + "/" + name)
}

// localName returns a file: URL as a plain name, and other names unchanged.
func localName(name string) string {
	if u, err := url.Parse(name); err == nil && u.Scheme == "file" {
		return u.Path
	}
	return name
}

// drain reads the rest of the split, since a mapper that does not read all of it fails in
// Hadoop. After a signal (told) there is no time for that. After an error it drains for a
// short time, so that Hadoop reports the exit code and not a broken pipe.
func (m *mapTask) drain(stdin io.Reader, err error, told bool) {
	if told {
		return
	}
	read := make(chan struct{})
	go func() { // it ends with the input, or with the process
		defer close(read)
		_, _ = io.Copy(io.Discard, stdin) // a read error ends the split
	}()
	var late <-chan time.Time
	if err != nil {
		late = time.After(drainFailed)
	}
	select {
	case <-read:
	case <-late:
	}
}

// drainFailed is the time for which a mapper that has failed reads on.
const drainFailed = 2 * time.Second

// failed shows the error in the task's status, and writes it to a file in the job's output: of
// a failed task, Hadoop reports only the exit code. An error of this write is ignored, since
// the log of the task has the message.
func (m *mapTask) failed(ctx context.Context, err error, fsys hdfsio.FS) error {
	lines := flags.ErrorLines(err)
	if errors.Is(err, allreduce.ErrLeaving) || len(lines) == 0 {
		return err
	}
	last := lines[len(lines)-1]
	m.report.last("failed: " + last)
	if m.task.Out == "" {
		return err
	}
	written := make(chan struct{})
	go func() { // it ends with the process
		defer close(written)
		dir := localName(m.task.Out) + "/" + train.BesideModel
		if fsys.Mkdir(ctx, dir) != nil {
			return
		}
		f, err := fsys.Create(ctx, dir+"/failed-"+m.task.ID)
		if err != nil {
			return
		}
		_, err = fmt.Fprintf(f, "rank %d: %s\n", m.task.Rank, last)
		if err == nil {
			err = f.Commit()
		}
		if err != nil {
			_ = f.Abort() // the log has the message
		}
	}()
	select {
	case <-written:
	case <-time.After(failureFileTimeout):
	}
	return err
}

// failureFileTimeout bounds the time for that file, since the file system may be what has
// failed.
const failureFileTimeout = 3 * time.Second
