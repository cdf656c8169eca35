// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/spantree/server"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/checkpoint"
	"github.com/gvw-project/gvw/internal/crash"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/internal/joinflags"
	"github.com/gvw-project/gvw/internal/launch"
	"github.com/gvw-project/gvw/internal/train"
)

// launcher is gvw run.
type launcher struct {
	*cli.Process
	files *files.Set
	table *cli.Table
}

func newLauncher(p *cli.Process, t *cli.Table) *launcher {
	return &launcher{Process: p, files: files.New(p), table: t}
}

// launch is gvw run: a server in this process, n workers on this machine.
func (p *launcher) launch(c *cli.Context, shardGiven bool, s *cli.Settings) (err error) {
	ctx := c.Context
	job := localJob{
		workers:    int(c.Uint64("workers")),
		shard:      "bytes",
		shardGiven: shardGiven,
		id:         fmt.Sprintf("%016x", rand.Uint64()),
		uniqueID:   rand.Uint64(),
		serverPort: int(c.Uint64("port")),
	}
	if shardGiven {
		job.shard = c.String("shard")
	}
	job.spares = int(c.Uint64("spares"))
	switch {
	case c.IsSet("max_restarts"):
		job.restarts, job.asked = int(c.Uint64("max_restarts")), true
	case s.Get("on_loss") != "abort":
		job.restarts = defaultRestarts
	}
	// Faults of the command line first: before a port or a folder is taken.
	if _, err := makePlan(job, s); err != nil {
		return err
	}
	if _, err := joinflags.FaultPlan(p.Process, job.workers, s.Get("shm") != "off"); err != nil {
		return err
	}
	fsys := p.files.System(s.Get, true)
	if err := expandData(ctx, fsys, s, job.workers); err != nil {
		return err
	}
	if s.Has("dry_run") {
		pl, err := makePlan(job, s)
		if err != nil {
			return err
		}
		return pl.workers[0].Dispatch(ctx, train.New(p.Process).Learn)
	}
	if err := p.checkWorkers(ctx, job, s); err != nil {
		return err
	}
	logs, err := openLogs(c.String("log_dir"), job.workers, job.spares)
	if err != nil {
		return err
	}
	defer func() { err = logs.end(p.Stderr, err) }()
	job.logDir = logs.dir
	secret, creds, err := runSecret(c.String("secret_file"))
	if err != nil {
		return err
	}
	local, err := startServer(ctx, job.serverPort, creds, logs.server)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, local.Stop()) }()
	job.serverPort = local.Port

	pl, err := makePlan(job, s)
	if err != nil {
		return err
	}
	if !s.Has("quiet") {
		fmt.Fprintf(p.Stderr, "gvw run: %d workers%s, server 127.0.0.1:%d, logs in %s%s\n", job.workers, andSpares(job.spares), job.serverPort, logs.dir, logs.fate())
	}
	defer func() { err = errors.Join(err, pl.removePieces(context.WithoutCancel(ctx), fsys)) }()
	watch := newJobWatch(local.Server.Status, job.uniqueID, job.workers, job.spares)
	if err := p.runWorkers(ctx, fsys, pl, logs, watch, job.restarts, secret); err != nil {
		return err
	}
	if name := s.Get("checkpoint"); name != "" { // rank 0 does that, unless it is killed first
		if err := checkpoint.RemoveRun(ctx, fsys, name, job.id); err != nil {
			return err
		}
	}
	return p.gatherAll(ctx, fsys, pl)
}

// startServer starts the server of a local job.
func startServer(ctx context.Context, port int, creds *auth.Credentials, log io.Writer) (*server.Local, error) {
	local, err := server.StartLocal(ctx, port, creds, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		return nil, fmt.Errorf("cannot start the server (another --port, or none, may help): %w", err)
	}
	return local, nil
}

// checkWorkers refuses workers whose tables together do not fit this machine.
func (p *launcher) checkWorkers(ctx context.Context, job localJob, s *cli.Settings) error {
	pl, err := makePlan(job, s)
	if err != nil {
		return err
	}
	return pl.workers[0].Dispatch(ctx, func(c *cli.Context) error {
		cfg, err := train.Config(c)
		if err != nil {
			return err
		}
		cfg.Cluster.Join = &allreduce.Config{Total: job.workers}
		bytes, err := cfg.Tables()
		if err != nil {
			return err
		}
		return train.CheckRoom(bytes, job.workers)
	})
}

// runSecret is the secret of a run: that of a file, or a fresh one. Workers get it by a
// descriptor; where a system cannot hand one over there is none.
func runSecret(file string) (b []byte, creds *auth.Credentials, err error) {
	var secret *auth.Secret
	switch {
	case !launch.CanInherit && file != "":
		return nil, nil, cli.Usagef("--secret_file: this system hands no descriptor to workers: start them by hand, with a server of your own")
	case !launch.CanInherit:
		return nil, nil, nil
	case file == "":
		b = auth.NewSecretText()
		secret, err = auth.NewSecret(b)
	default:
		if secret, b, err = auth.ReadSecretBytes(file); err != nil {
			err = fmt.Errorf("--secret_file: %w", err)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	return b, &auth.Credentials{Secret: secret}, nil
}

// expandData replaces patterns by files and looks whether all are there: better
// here than N times in N logs.
func expandData(ctx context.Context, fsys hdfsio.FS, s *cli.Settings, workers int) error {
	var names []string
	for _, name := range s.All("data") {
		if strings.Contains(name, files.RankMark) {
			names = append(names, name)
			for rank := range workers {
				own := strings.ReplaceAll(name, files.RankMark, strconv.Itoa(rank))
				if err := look(ctx, fsys, own); err != nil {
					return fmt.Errorf("rank %d: %w", rank, err)
				}
			}
			continue
		}
		found, err := hdfsio.Expand(ctx, fsys, []string{name})
		if err == nil {
			err = look(ctx, fsys, found...)
		}
		if err != nil {
			return err
		}
		names = append(names, found...)
	}
	s.Set("data", names...)
	if !s.Has("valid") {
		return nil
	}
	valid, err := hdfsio.Expand(ctx, fsys, s.All("valid"))
	if err != nil {
		return err
	}
	return look(ctx, fsys, valid...)
}

// look makes sure that files are there.
func look(ctx context.Context, fsys hdfsio.FS, names ...string) error {
	_, err := hdfsio.Split(ctx, fsys, names, hdfsio.Shard{})
	return err
}

// runWorkers runs this program once per rank until all have ended. A worker that
// dies is started again while the job goes on.
func (p *launcher) runWorkers(ctx context.Context, fsys *hdfsio.URLs, pl *plan, logs *logs, watch *jobWatch, restarts int, secret []byte) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find this program to start workers: %w", err)
	}
	env := workerEnv(p.Env, p.table)
	cmds := make([]*exec.Cmd, len(pl.workers)+len(pl.spares))
	terminal := &crash.Filter{Out: p.Stderr, Full: logs.name(0)} // of rank 0
	for rank, w := range slices.Concat(pl.workers, pl.spares) {
		cmd := exec.Command(self, w.Args()...)
		cmd.Env = env[:len(env):len(env)]
		if rank >= len(pl.workers) { // for faults: whose place it takes has had as many attempts, or fewer
			cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%d", launch.EnvAttempt, 1+rank-len(pl.workers)))
		}
		cmd.WaitDelay = outputDelay
		log := logs.ranks[rank]
		cmd.Stdout = log
		if rank == 0 {
			cmd.Stderr = io.MultiWriter(log, terminal)
		} else {
			cmd.Stderr = log
		}
		cmds[rank] = cmd
	}
	symptom := func(code int) bool { return code == cli.ExitLost || code == cli.ExitDeadline }
	job := launch.Job{
		Symptom:  symptom,
		Secret:   secret,
		Restarts: restarts,
		Again:    func(r launch.Result) bool { return watch.goesOn(symptom(r.Code)) && !watch.removed(r.Rank) },
		Hung:     watch.hung,
		Stopped:  watch.idle,
		Missed:   watch.missed,
	}
	var left error
	job.Died = func(r launch.Result) {
		watch.started(r.Rank) // or will be
		logs.lost = true
		p.showCrash(r, pl, logs, terminal)
		left = errors.Join(left, pl.removeLeft(fsys, r.Rank, r.Pid))
	}
	job.Restarting = func(r launch.Result, pause time.Duration) {
		unless := ""
		if pl.shrinks {
			unless = ", unless the others go on without it"
		}
		fmt.Fprintf(p.Stderr, "gvw run: %s has ended (%s); attempt %d of at most %d follows in %v%s\n",
			pl.name(r.Rank), logs.howEnded(r), r.Attempt+1, restarts+1, pause, unless)
	}
	lost := 0
	job.Without = func(r launch.Result) bool {
		if len(pl.spares) > 0 {
			return p.replaced(pl, watch, r, logs.howEnded(r), &lost)
		}
		if !pl.shrinks || !watch.without(r.Rank) {
			return false
		}
		fmt.Fprintf(p.Stderr, "gvw run: rank %d has ended (%s); the others go on without its examples\n", r.Rank, logs.howEnded(r))
		return true
	}
	logs.began = true
	looking, enough := context.WithCancel(ctx)
	var looker sync.WaitGroup
	looker.Go(func() { watch.follow(looking) })
	results, root, err := job.Run(ctx, cmds)
	enough()
	looker.Wait()
	if err != nil {
		return err
	}
	if cause := context.Cause(ctx); cause != nil {
		return errors.Join(cause, left)
	}
	// A worker that was killed on its way out, or whose next attempt came too late: all that
	// it owed is delivered.
	if root >= 0 && (results[root].Signal != nil || results[root].Attempt > 1 && results[root].Code == cli.ExitRefused) && watch.finished() {
		return left
	}
	if results[0].Spared && len(pl.spares) > 0 {
		fmt.Fprintf(p.Stderr, "gvw run: rank 0 was lost: what the spare says that took its place is in %s\n", filepath.Join(logs.dir, "spare-*.log"))
	} else if at := slices.IndexFunc(results, func(r launch.Result) bool { return r.Code == 0 && r.Err == nil }); at > 0 && results[0].Spared {
		fmt.Fprintf(p.Stderr, "gvw run: rank 0 was lost: what rank %d says is in %s\n", at, logs.name(at))
	}
	if root >= 0 {
		return errors.Join(p.blame(results[root], pl, logs), left)
	}
	return left
}

// removeLeft removes the files that a killed worker was writing; a spare may have been any.
func (pl *plan) removeLeft(fsys *hdfsio.URLs, process, pid int) error {
	if process < len(pl.workers) {
		return removeAsides(fsys, pl.workers[process], pid)
	}
	var errs []error
	for rank := range pl.workers {
		w := pl.spares[process-len(pl.workers)].Clone()
		files.FillRank(w, rank)
		errs = append(errs, removeAsides(fsys, w, pid))
	}
	return errors.Join(errs...)
}

func removeAsides(fsys *hdfsio.URLs, w *cli.Settings, pid int) error {
	var errs []error
	for _, option := range slices.Concat(files.OnceFiles, []string{"predictions", "raw_predictions"}) {
		if name := w.Get(option); name != "" && !slices.Contains(files.StdoutNames, name) {
			errs = append(errs, fsys.RemoveAside(name, pid))
		}
	}
	if name := w.Get("checkpoint"); name != "" {
		errs = append(errs, fsys.RemoveAsides(name, pid))
	}
	return errors.Join(errs...)
}

// defaultRestarts is how often a worker that dies is started again.
const defaultRestarts = 3

// workerEnv is the environment without the variables that set options: what
// they say is in the workers' arguments, divided among the ranks.
func workerEnv(env []string, t *cli.Table) []string {
	options := map[string]bool{}
	for _, s := range t.Specs() {
		options[s.Env()] = true
	}
	var out []string
	for _, kv := range env {
		if name, _, _ := strings.Cut(kv, "="); !options[name] && name != launch.EnvLifeline && name != launch.EnvAttempt && name != launch.EnvSecret {
			out = append(out, kv)
		}
	}
	return out
}

// showCrash shows the cause of a crash; that of rank 0 is on the terminal.
func (p *launcher) showCrash(r launch.Result, pl *plan, logs *logs, terminal *crash.Filter) {
	if r.Rank == 0 {
		terminal.Reset()
	}
	if !logs.crashed(r) || r.Rank == 0 {
		return
	}
	fmt.Fprintf(p.Stderr, "gvw run: %s crashed; from %s:\n", pl.name(r.Rank), logs.name(r.Rank))
	for _, line := range logs.crashes[r.Rank].Lines() {
		fmt.Fprintf(p.Stderr, "  | %s\n", line)
	}
}

// blame shows the end of the log of the rank that failed first.
func (p *launcher) blame(r launch.Result, pl *plan, logs *logs) error {
	name := logs.name(r.Rank)
	lines := lastLines(name, 10)
	if r.Rank != 0 && len(lines) > 0 && logs.crashes[r.Rank].Message == "" { // rank 0's are on the terminal, a crash is shown
		fmt.Fprintf(p.Stderr, "gvw run: %s failed first; the end of %s:\n", pl.name(r.Rank), name)
		for _, l := range lines {
			fmt.Fprintf(p.Stderr, "  | %s\n", l)
		}
	}
	e := &cli.ExitError{Code: r.Code}
	how := logs.howEnded(r)
	switch {
	case r.Err != nil:
		e.Code = cli.ExitIO
	case r.Signal != nil:
		e.Code = cli.ExitLost
	case len(lines) > 0:
		how += ": " + strings.TrimPrefix(lines[len(lines)-1], "gvw: ")
	}
	if r.Attempt > 1 {
		how = fmt.Sprintf("attempt %d, %s", r.Attempt, how)
	}
	e.Text = fmt.Sprintf("%s failed first, after %.1f s (%s); logs in %s", pl.name(r.Rank), r.After.Seconds(), how, filepath.Dir(name))
	return e
}

// howEnded says how a worker that failed has ended.
func howEnded(r launch.Result) string {
	switch {
	case r.Err != nil:
		return r.Err.Error()
	case r.Hung:
		return "the server had given it up, but it had not ended: killed"
	case r.Signal == syscall.SIGABRT:
		return fmt.Sprintf("crashed: signal %d, %v", r.Code-128, r.Signal)
	case r.Code == 137 && r.Signal != nil:
		return fmt.Sprintf("ended by signal 9, %v: out of memory?", r.Signal)
	case r.Signal != nil:
		return fmt.Sprintf("ended by signal %d, %v", r.Code-128, r.Signal)
	}
	return fmt.Sprintf("exit code %d", r.Code)
}

// gatherAll puts predictions together.
func (p *launcher) gatherAll(ctx context.Context, fsys hdfsio.FS, pl *plan) error {
	if len(pl.gathered) == 0 {
		return nil
	}
	order, err := pl.order(ctx, fsys)
	if err != nil {
		return err
	}
	for _, g := range pl.gathered {
		if err := p.gatherOne(ctx, fsys, g, order); err != nil {
			return fmt.Errorf("cannot put together %s: %w", g.name, err)
		}
	}
	return nil
}

// order says how predictions stand in the data; nil: rank after rank, whole
// pieces, for which nothing has to be counted.
func (pl *plan) order(ctx context.Context, fsys hdfsio.FS) (*dealt, error) {
	w := pl.workers[0]
	h := w.Get("hybrid")
	onePass := !w.Has("passes") && h == "" || w.Get("passes") == "1" || strings.HasPrefix(h, "1:")
	if onePass && pl.kind != hdfsio.Lines {
		return nil, nil
	}
	files := make([][]string, len(pl.workers))
	for rank, w := range pl.workers {
		files[rank] = w.All("data")
	}
	d, err := deal(ctx, fsys, pl.kind, files, dataFormat(w))
	return &d, err
}

func (p *launcher) gatherOne(ctx context.Context, fsys hdfsio.FS, g gathering, order *dealt) (err error) {
	pieces := make([]io.Reader, len(g.pieces))
	for rank, name := range g.pieces {
		r, oerr := fsys.Open(ctx, name, 0)
		if oerr != nil {
			return oerr
		}
		defer func() { err = errors.Join(err, r.Close()) }()
		pieces[rank] = r
	}
	out, err := p.files.Creator(ctx, fsys, 0)(g.name)
	if err != nil {
		return err
	}
	if order == nil {
		_, err = io.Copy(out, io.MultiReader(pieces...))
	} else {
		err = gatherPieces(out, pieces, *order)
	}
	if err != nil {
		return errors.Join(err, out.Abort())
	}
	return out.Commit()
}

// removePieces removes what workers have left, those of a failed run too.
func (pl *plan) removePieces(ctx context.Context, fsys hdfsio.FS) error {
	var errs []error
	for _, g := range pl.gathered {
		for _, name := range g.pieces {
			if err := fsys.Remove(ctx, name); !errors.Is(err, os.ErrNotExist) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// andSpares is what the launcher says of them.
func andSpares(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return " and 1 spare"
	}
	return fmt.Sprintf(" and %d spares", n)
}

// name is that of a process of the job: ranks come first, then spares.
func (pl *plan) name(process int) string {
	if spare := process - len(pl.workers); spare >= 0 {
		return fmt.Sprintf("spare %d", spare)
	}
	return fmt.Sprintf("rank %d", process)
}

// replaced says whether a job with spares goes on without a process that is not started
// again. lost counts those: there are enough as long as they are no more than the spares.
func (p *launcher) replaced(pl *plan, watch *jobWatch, r launch.Result, how string, lost *int) bool {
	if watch.finished() {
		return true // it was stopped, and has been woken too late
	}
	if !launch.Curable(r.Code) || *lost >= len(pl.spares) || !watch.goesOn(r.Code == cli.ExitLost || r.Code == cli.ExitDeadline) {
		return false
	}
	*lost++
	fmt.Fprintf(p.Stderr, "gvw run: %s has ended (%s); the job goes on (spares left: %d)\n", pl.name(r.Rank), how, len(pl.spares)-*lost)
	return true
}
