// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/joinflags"
	"github.com/gvw-project/gvw/internal/launch"
)

// programTakes are the options of gvw run that apply to any program.
var programTakes = []string{"workers", "log_dir", "max_restarts", "port", "secret_file", "on_loss", "http", "http_token_file", "http_control", "help"}

// commandAfter returns the program that follows the "--" of gvw run, as a path, with its
// arguments; nil if the learner's options follow. As for a shell, a word with a slash
// names a file and another one is looked up in PATH.
func commandAfter(rest []string) ([]string, error) {
	if len(rest) == 0 || strings.HasPrefix(rest[0], "-") || strings.HasPrefix(rest[0], "@") {
		return nil, nil
	}
	name := rest[0]
	path, err := exec.LookPath(name)
	if err != nil {
		return nil, nil // data for the learner, as vw takes a word without an option
	}
	if _, err := os.Stat(name); err == nil && !strings.ContainsRune(name, filepath.Separator) && !strings.Contains(name, "/") {
		return nil, cli.Usagef("gvw run: %q is a file here and a program in PATH: write -d %s for data, or %s for the program", name, name, path)
	}
	return append([]string{path}, rest[1:]...), nil
}

// programJob is a run of a program that uses package allreduce.
type programJob struct {
	command  []string
	workers  int
	id       string
	uniqueID uint64
	onLoss   string // --on_loss; empty: the program decides
	restarts int
	port     int // of the server
}

// newProgramJob checks the options of gvw run for a program.
func newProgramJob(s *cli.Settings, command []string) (*programJob, error) {
	var errs []error
	for _, o := range s.Flags.Specs {
		if s.Has(o.Name) && !slices.Contains(programTakes, o.Name) {
			errs = append(errs, cli.Usagef("gvw run: --%s would be ignored: it is for the learner, and %s is another program", o.Name, command[0]))
		}
	}
	j := &programJob{
		command: command, workers: int(s.Number("workers")), onLoss: s.Get("on_loss"), restarts: defaultRestarts,
		id: fmt.Sprintf("%016x", rand.Uint64()), uniqueID: rand.Uint64(), port: int(s.Number("port")),
	}
	if s.Has("max_restarts") {
		j.restarts = int(s.Number("max_restarts"))
	}
	switch {
	case j.onLoss == "abort" && s.Has("max_restarts") && j.restarts > 0:
		errs = append(errs, cli.Usagef("--max_restarts %d would be ignored with --on_loss abort: the loss of a worker ends the job", j.restarts))
	case j.onLoss == "abort":
		j.restarts = 0
	case j.onLoss == "wait" && j.restarts == 0:
		errs = append(errs, cli.Usagef("--on_loss wait with --max_restarts 0: no process would replace a lost worker: give one or more, or --on_loss abort or shrink"))
	// Restarts are useful only in a job that waits for them, so asking for them selects this policy.
	case j.onLoss == "" && s.Has("max_restarts") && j.restarts > 0:
		j.onLoss = joinflags.RestartedOnLoss
	}
	return j, errors.Join(errs...)
}

// env returns the environment of a rank, with the variables that allreduce.ConfigFromEnv reads.
func (j *programJob) env(inherited []string, rank int) []string {
	env := append(inherited,
		"GVW_SPAN_SERVER=127.0.0.1",
		"GVW_SPAN_SERVER_PORT="+strconv.Itoa(j.port),
		"GVW_UNIQUE_ID="+strconv.FormatUint(j.uniqueID, 10),
		"GVW_RUN_ID="+j.id,
		"GVW_GENERATION=0",
		"GVW_TOTAL="+strconv.Itoa(j.workers),
		"GVW_NODE="+strconv.Itoa(rank),
		"GVW_BIND=127.0.0.1",
	)
	if j.onLoss != "" {
		env = append(env, "GVW_ON_LOSS="+j.onLoss)
	}
	return env
}

// launchProgram starts a server in this process and n processes of a program.
func (p *launcher) launchProgram(ctx context.Context, s *cli.Settings, command []string) (err error) {
	j, err := newProgramJob(s, command)
	if err != nil {
		return err
	}
	logs, err := openLogs(s.Get("log_dir"), j.workers, 0)
	if err != nil {
		return err
	}
	defer func() { err = logs.end(p.Stderr, err) }()
	secret, creds, err := runSecret(s.Get("secret_file"))
	if err != nil {
		return err
	}
	local, err := startServer(ctx, localJob{serverPort: j.port}, creds, logs)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, local.Stop()) }()
	j.port = local.Port
	fmt.Fprintf(p.Stderr, "gvw run: %d workers, server 127.0.0.1:%d, logs in %s%s\n", j.workers, j.port, logs.dir, logs.note())
	watch := newJobWatch(local.Server.Status, j.uniqueID, j.workers, 0)
	shown, err := p.startPage(pageOptions{s.Get("http"), s.Get("http_token_file"), s.Has("http_control"), "", ""}, local.Server, logs, watch)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, shown.Close()) }()
	return p.runProgram(ctx, j, p.processesOf(&plan{workers: make([]*cli.Settings, j.workers)}, logs, watch, j.restarts), secret)
}

// runProgram starts the program once per rank and waits until all have ended. It restarts a
// rank that dies while its job recovers.
func (p *launcher) runProgram(ctx context.Context, j *programJob, all *processes, secret []byte) error {
	watch := all.watch
	cmds := make([]*exec.Cmd, j.workers)
	for rank := range cmds {
		cmds[rank] = all.command(rank, j.env(WorkerEnv(p.Env, p.table), rank), p.Stdout, j.command[0], j.command[1:])
	}
	results, root, err := all.run(ctx, cmds, launch.Job{
		Secret: secret, EmptyStdin: true,
		Symptom: programSymptom(j.command[0]), Curable: programCurable(j.command[0]),
		Again: func(r launch.Result) bool {
			return (j.onLoss != "" || watch.recovers()) && watch.mayContinue(false) && !watch.removed(r.Rank)
		},
		Without: func(r launch.Result) bool {
			how := watch.policy(j.onLoss)
			return (how == "shrink" || how == "grow") && all.continuesWithout(r, "it")
		},
	})
	if err != nil {
		return err
	}
	// A signal after the end of the job is a failure, unlike for the learner: a program may write its results after it has
	// closed its group.
	if root < 0 {
		return nil
	}
	return p.rootCause(results[root], all.plan, all.logs, all.watch.found())
}

// programSymptom returns the function that reports whether an exit code of a program may be the consequence of another
// rank's failure. A program has its own exit codes, and a rank that lost a peer may also abort, so any may be:
// the rank that ended first is the cause. Signal 9 is none: it comes from outside, or is for a process that
// hangs, which the others may have noticed before.
func programSymptom(name string) func(code int) bool {
	if isSelf(name) {
		return symptom
	}
	return func(code int) bool { return code != 128+int(syscall.SIGKILL) }
}

// programCurable returns the function that reports whether another attempt of a program may succeed after an exit code. Those
// of gvw's own commands have the meanings that they have for the learner. Of another program, only an end by the user's signal
// is final.
func programCurable(name string) func(code int) bool {
	if isSelf(name) {
		return launch.Curable
	}
	return func(code int) bool { return code != 128+int(syscall.SIGINT) && code != 128+int(syscall.SIGTERM) }
}

// isSelf reports whether a file is this program.
func isSelf(name string) bool {
	self, err := os.Executable()
	if err != nil {
		return false
	}
	a, err := os.Stat(name)
	if err != nil {
		return false
	}
	b, err := os.Stat(self)
	return err == nil && os.SameFile(a, b)
}

// policy returns the loss policy that the ranks have sent to the server, or "" for abort. given is the policy of a
// job that the server has not had when it was polled; the job may have ended already.
func (w *jobWatch) policy(given string) string {
	w.poll(time.Now())
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.seen {
		return given
	}
	return w.onLoss
}

// recovers reports whether the job can use another attempt of a lost rank.
func (w *jobWatch) recovers() bool { return w.policy("") != "" }
