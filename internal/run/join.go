// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/joinflags"
	"github.com/gvw-project/gvw/internal/launch"
	"github.com/gvw-project/gvw/internal/run/departure"
	"github.com/gvw-project/gvw/internal/site"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/internal/spantree/server"
	"github.com/gvw-project/gvw/internal/train"
)

// joinsByLauncher is the value of --join without an address.
const joinsByLauncher = "auto"

// joinRefuses are the options of gvw run that need all ranks in one place.
var joinRefuses = []string{"spares", "http", "http_token_file", "http_control"}

// joined is one rank of a job whose ranks another launcher has started: gvw run --join.
type joined struct {
	*launcher
	at       site.Rank
	job      protocol.Job
	onLoss   string // policy of the job; "": a program decides
	restarts int    // of this rank's worker
	quiet    bool
	start    time.Duration // time for the server to appear
	meeting  meeting
	creds    *auth.Credentials
	secret   []byte // for a program; the learner reads the file
}

// place returns the place that the launcher has given to this process, and the job. s has the options before the "--".
// runID is the name of the run as the user has given it, or "".
func (p *launcher) place(s *cli.Settings, runID string) (*joined, error) {
	for _, name := range joinRefuses {
		if s.Has(name) {
			return nil, cli.Usagef("--%s would be ignored with --join: this process has one rank", name)
		}
	}
	host, domain := hostAndDomain()
	at, err := site.Find(site.Input{Env: p.Env, Hostname: host, Domain: domain, Total: int(s.Number("workers"))})
	switch {
	case errors.Is(err, site.ErrNoTotal):
		return nil, cli.Usagef("gvw run --join: %w: give it by -n N before --", err)
	case err != nil:
		return nil, cli.Usagef("gvw run --join: %w", err)
	}
	if runID == "" {
		runID = at.Job
	}
	if runID == "" {
		return nil, cli.Usagef("gvw run --join: %s has no identity of the job, by which its ranks find each other: set GVW_RUN_ID to a new name for each job, the same for all ranks", at.Launcher)
	}
	if len(runID) > protocol.MaxRunKey {
		return nil, cli.Usagef("gvw run --join: the name of the run %q is longer than %d bytes: set GVW_RUN_ID", runID, protocol.MaxRunKey)
	}
	j := &joined{
		launcher: p, at: at, job: protocol.Job{UniqueID: hash64(runID), RunKey: runID},
		onLoss: s.Get("on_loss"), restarts: defaultRestarts, quiet: s.Has("quiet"), start: startTimeout,
	}
	if s.Has("max_restarts") {
		j.restarts = int(s.Number("max_restarts"))
	}
	return j, nil
}

// startTimeout is the default of --start_timeout.
const startTimeout = 10 * time.Minute

// follow sets the policy for losses, unless the user has given one: the job waits for the next attempt of a rank if anybody
// starts one, this process or its launcher.
func (j *joined) follow(given string) {
	switch {
	case given != "":
		j.onLoss = given
	case j.restarts > 0 || j.at.Restarts == site.EachRank:
		j.onLoss = joinflags.RestartedOnLoss
	default:
		j.onLoss = "abort"
	}
	if j.onLoss == "abort" {
		j.restarts = 0
	}
}

// joinLearner runs the learner as one rank. job has its options.
func (p *launcher) joinLearner(ctx context.Context, s, job *cli.Settings) error {
	j, err := p.place(s, job.Get("run_id"))
	if err != nil {
		return err
	}
	j.quiet = job.Has("quiet")
	given := job.Get("on_loss")
	if given == "" && job.Has("malt") && !s.Has("max_restarts") {
		given = "abort" // predictions of a replaced rank would lack those of the lost attempt
	}
	j.follow(given)
	if job.Has("start_timeout") {
		j.start, _ = time.ParseDuration(job.Get("start_timeout")) // Parse has checked it
	}
	if file := s.Get("secret_file"); file != "" {
		if other := job.Get("secret_file"); other != "" && other != file {
			return cli.Usagef("--secret_file is %s before -- and %s after it: give it once", file, other)
		}
		job.Set("secret_file", file)
	}
	if err := j.meet(s, job.Get("secret_file")); err != nil {
		return err
	}
	// The options are checked before there is a server or a file. The port is filled in again when it is known.
	if _, err := j.settings(s, job); err != nil {
		return err
	}
	if job.Has("dry_run") {
		w, err := j.settings(s, job)
		if err != nil {
			return err
		}
		return w.Dispatch(ctx, train.New(p.Process).Learn)
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find this program to start the worker: %w", err)
	}
	return j.run(ctx, s.Get("log_dir"), func() (*exec.Cmd, launch.Job, error) {
		w, err := j.settings(s, job)
		if err != nil {
			return nil, launch.Job{}, err
		}
		cmd := exec.Command(self, w.Args()...)
		cmd.Env = j.leaves(WorkerEnv(p.Env, p.table))
		fsys := p.files.System(job.Get, true)
		one := &plan{workers: []*cli.Settings{w}}
		return cmd, launch.Job{
			Symptom: symptom,
			Died:    func(r launch.Result) { p.warnLeft(one.removeLeft(fsys, 0, r.Pid)) },
		}, nil
	}, func() (*auth.Credentials, error) {
		get := func(name string) string {
			if name == "secret_file" {
				return j.meeting.secretFile
			}
			return job.Get(name)
		}
		return joinflags.Credentials(p.Process, get, job.Has("encrypt"), job.Has("allow_vw"))
	})
}

// joinProgram runs a program that uses package allreduce as one rank.
func (p *launcher) joinProgram(ctx context.Context, s *cli.Settings, command []string) error {
	for _, o := range s.Flags.Specs {
		if s.Has(o.Name) && !slices.Contains(programTakes, o.Name) && !slices.Contains([]string{"join", "join_dir", "start_timeout"}, o.Name) {
			return cli.Usagef("gvw run: --%s would be ignored: it is for the learner, and %s is another program", o.Name, command[0])
		}
	}
	j, err := p.place(s, p.Getenv("GVW_RUN_ID"))
	if err != nil {
		return err
	}
	if how := s.Get("on_loss"); how != "" || s.Has("max_restarts") {
		j.follow(how) // otherwise the program decides
	}
	if s.Has("start_timeout") {
		j.start, _ = time.ParseDuration(s.Get("start_timeout")) // Parse has checked it
	}
	if err := j.meet(s, s.Get("secret_file")); err != nil {
		return err
	}
	return j.run(ctx, s.Get("log_dir"), func() (*exec.Cmd, launch.Job, error) {
		pj := programJob{workers: j.at.Total, id: j.job.RunKey, uniqueID: j.job.UniqueID, onLoss: j.onLoss, port: j.meeting.port}
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Env = append(pj.env(j.leaves(WorkerEnv(p.Env, p.table)), j.at.Rank),
			"GVW_SPAN_SERVER="+j.meeting.host, "GVW_GENERATION="+strconv.FormatUint(uint64(j.at.Generation), 10))
		if !j.meeting.local() {
			cmd.Env = append(cmd.Env, "GVW_BIND=")
		}
		return cmd, launch.Job{
			Secret: j.secret, EmptyStdin: true, Symptom: programSymptom(command[0]), Curable: programCurable(command[0]),
		}, nil
	}, func() (*auth.Credentials, error) {
		if j.meeting.secretFile == "" {
			return nil, nil
		}
		if !launch.CanInherit {
			return nil, cli.Usagef("--secret_file: this system hands no descriptor to programs")
		}
		secret, text, err := auth.ReadSecretBytes(j.meeting.secretFile)
		if err != nil {
			return nil, fmt.Errorf("--secret_file: %w", err)
		}
		j.secret = text
		return &auth.Credentials{Secret: secret}, nil
	})
}

// leaves adds the variable for a worker that may be started again after SIGTERM, as in a pod that is evicted.
func (j *joined) leaves(env []string) []string {
	if j.at.Restarts != site.EachRank {
		return env
	}
	return append(env, launch.EnvLeaves+"=1")
}

// run opens or finds the server, runs the worker until its last attempt has ended, and leaves.
func (j *joined) run(ctx context.Context, logDir string, worker func() (*exec.Cmd, launch.Job, error), credentials func() (*auth.Credentials, error)) (err error) {
	log, err := openJoinLog(logDir, j.at)
	if err != nil {
		return err
	}
	if log != nil {
		defer func() { err = errors.Join(err, log.Close()) }()
	}
	if err := j.meeting.prepare(ctx, j); err != nil {
		return err
	}
	if j.creds, err = credentials(); err != nil {
		return err
	}
	if j.meeting.serves {
		var local *server.Local
		if local, err = j.meeting.serve(ctx, j); err != nil {
			return err
		}
		// After a failure the launcher may start another attempt of this rank, which takes the server over: at the same
		// address and with the same secret, since the other ranks have those.
		follows := func() bool { return err != nil && j.at.Restarts == site.EachRank }
		defer func() {
			if !follows() {
				err = errors.Join(err, j.meeting.leave())
			}
			err = errors.Join(err, local.Stop())
		}()
		others := departure.Watch(local.Server, j.job, j.at.Total)
		// The other ranks learn how the job has ended before the server is gone.
		defer func() { others.Leave(ctx, err, follows()) }()
	} else if err := j.meeting.await(ctx, j, j.meeting.answers); err != nil {
		return err
	}
	cmd, job, err := worker()
	if err != nil {
		return err
	}
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = j.Stdout, j.Stderr, outputDelay
	if log != nil {
		cmd.Stderr = log
		if j.at.Rank == 0 {
			cmd.Stderr = io.MultiWriter(log, j.Stderr)
		}
	}
	job.Restarts = j.restarts
	if j.onLoss == "" {
		job.Restarts = defaultRestarts // as long as the server says that the job recovers
	}
	isSymptom := job.Symptom
	job.Again = func(r launch.Result) bool { return j.mayContinue(ctx, isSymptom(r.Code)) }
	job.Restarting = func(r launch.Result, pause time.Duration) {
		fmt.Fprintf(j.Stderr, "gvw run: rank %d has ended (%s); attempt %d of at most %d follows in %v\n", j.at.Rank, howEnded(r), r.Attempt+1, job.Restarts+1, pause)
	}
	j.allowGrace(&job, cmd.Path)
	results, root, err := job.Run(ctx, []*exec.Cmd{cmd})
	switch {
	case err == nil && context.Cause(ctx) != nil:
		return context.Cause(ctx)
	case err != nil || root < 0:
		return err
	}
	return j.failed(ctx, results[0], isSymptom)
}

// mayContinue reports whether the job can use another attempt of this rank. symptom is true if the attempt has reported a
// failure of the job.
func (j *joined) mayContinue(ctx context.Context, symptom bool) bool {
	if j.onLoss != "" && !symptom {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	st, err := client.Status(ctx, nil, j.meeting.address(), j.creds)
	if err != nil {
		// The server's process may be restarted, too, if the launcher does that.
		return j.onLoss != "" && j.at.Restarts == site.EachRank
	}
	for _, job := range st.Jobs {
		if job.UniqueID == j.job.UniqueID {
			return (j.onLoss != "" || job.OnLoss != "") && !(symptom && job.State == "filling")
		}
	}
	return false
}

// askTimeout bounds one question to the server.
const askTimeout = 5 * time.Second

// failed returns the error of the last attempt. If no other attempt follows, it ends the job, whose other ranks would wait
// for that.
func (j *joined) failed(ctx context.Context, r launch.Result, isSymptom func(int) bool) error {
	e := &cli.ExitError{Code: r.Code, Text: departure.Failure(j.at.Rank, j.at.Total, howEnded(r))}
	switch {
	case r.Err != nil:
		e.Code = cli.ExitIO
	case r.Signal != nil:
		e.Code = cli.ExitLost
	}
	waits := j.onLoss == "wait" || j.onLoss == "" && !isSymptom(r.Code)
	// The process with the server ends the job by that: see others.
	if waits && j.at.Restarts != site.EachRank && !j.meeting.serves {
		j.cancel(ctx, e.Text, isSymptom(r.Code) || r.Code == cli.ExitRefused)
	}
	return e
}

// cancel ends the job. If this rank was the first to fail (not told), it may have failed before any rank has joined: then
// cancel tries again for askTimeout.
func (j *joined) cancel(ctx context.Context, reason string, told bool) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	for {
		// An error means that there is no job yet or any more, or that it has a token of its own.
		err := client.Cancel(ctx, nil, j.meeting.address(), j.creds, client.Cancellation{Job: j.job, Reason: reason})
		if err == nil || told {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pollInterval):
		}
	}
}

// openJoinLog creates the log of this rank's worker; nil: there is none.
func openJoinLog(dir string, at site.Rank) (*os.File, error) {
	if dir == "" {
		return nil, nil
	}
	if err := (hdfsio.Local{}).Mkdir(context.Background(), dir); err != nil {
		return nil, err
	}
	width := max(2, len(strconv.Itoa(at.Total-1)))
	return hdfsio.Local{}.CreateNow(filepath.Join(dir, fmt.Sprintf("rank-%0*d.log", width, at.Rank)))
}

// hash64 returns a number for a name.
func hash64(name string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // it never fails
	return h.Sum64()
}
