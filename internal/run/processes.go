// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"

	"github.com/gvw-project/gvw/internal/crash"
	"github.com/gvw-project/gvw/internal/launch"
	"github.com/gvw-project/gvw/internal/record"
	"github.com/gvw-project/gvw/internal/remote"
)

// outputDelay bounds the reading of a process's output after its end, since a process that it
// has started may hold the output open. The time in which the output is written does not count.
const outputDelay = 2 * time.Second

// reserve is the time for what follows the last process of a job that was told to end: files are removed, and the server
// stops.
const reserve = time.Second

// allowGrace gives this process the time to end a job of these programs after a signal. If that is not enough, or at a
// second signal, other programs than gvw are killed, since they may ignore the end of the launcher. gvw's processes notice
// it: they remove their temporary files, and those of --hosts end their workers on other machines.
func (p *launcher) allowGrace(job *launch.Job, program string) {
	grace := job.Grace
	if grace == 0 {
		grace = launch.DefaultGrace
	}
	p.AllowCleanup(grace + outputDelay + reserve)
	if !isSelf(program) {
		job.AtKill = p.AtKill
	}
}

// processes are the processes of a job on this machine: workers of the learner or of another
// program, one per rank, then one per spare. It shows their ends to the user and follows their
// job on the server, so both kinds of job react to a loss in the same way.
type processes struct {
	*launcher
	plan     *plan
	logs     *logs
	watch    *jobWatch
	restarts int            // further attempts of each rank
	hosts    *remoteHosts   // nil: the workers run on this machine
	record   *record.Writer // nil: there is none
	terminal *crash.Filter  // stderr of rank 0, which the user sees; the log has all of it
}

// processesOf returns the processes of a job, which have not been started.
func (p *launcher) processesOf(pl *plan, logs *logs, watch *jobWatch, restarts int) *processes {
	return &processes{
		launcher: p, plan: pl, logs: logs, watch: watch, restarts: restarts,
		terminal: &crash.Filter{Out: p.Stderr, Full: logs.name(0)},
	}
}

// grace returns the time between the signal to a worker and killing it; 0: the default.
func (j *processes) grace() time.Duration {
	if j.hosts != nil {
		return hostsCleanup
	}
	return 0
}

// command returns the command of a process. Its output goes to its log; that of rank 0 also goes
// to stdout and to the terminal.
func (j *processes) command(rank int, env []string, stdout io.Writer, name string, args []string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.WaitDelay = env, outputDelay
	log := j.logs.ranks[rank]
	cmd.Stdout, cmd.Stderr = log, log
	if rank == 0 {
		cmd.Stderr = io.MultiWriter(log, j.terminal)
		if stdout != io.Discard {
			cmd.Stdout = io.MultiWriter(log, stdout)
		}
	}
	return cmd
}

// run starts the commands of a job and waits until all have ended. It adds to job what does not
// depend on the program: what the server reports about the job, the messages about lost
// processes, and the number of restarts. root is the process that failed first, or -1. The
// error is that of starting, or the cause of the end of ctx.
func (j *processes) run(ctx context.Context, cmds []*exec.Cmd, job launch.Job) (results []launch.Result, root int, err error) {
	job.Restarts, job.Hung, job.Stopped, job.Missed = j.restarts, j.watch.hung, j.watch.idle, j.watch.missed
	job.Kills = j.watch.kills
	if j.hosts != nil {
		job.Over = remote.OverSignal
	}
	j.allowGrace(&job, cmds[0].Path)
	died := job.Died
	job.Died = func(r launch.Result) {
		j.watch.started(r.Rank)
		j.logs.lost = true
		j.logs.killedBy(r)
		j.recordDeath(r)
		j.showCrash(r, j.plan, j.logs, j.terminal)
		if died != nil {
			died(r)
		}
	}
	unless := ""
	if j.plan.shrinks {
		unless = ", unless the others continue without it"
	}
	job.Restarting = func(r launch.Result, pause time.Duration) {
		fmt.Fprintf(j.Stderr, "gvw run: %s has ended (%s); attempt %d of at most %d follows in %v%s\n",
			j.plan.name(r.Rank), j.logs.howEnded(r), r.Attempt+1, j.restarts+1, pause, unless)
	}
	j.logs.began = true
	// The watch polls the server until the last process has ended, and no longer.
	following, stop := context.WithCancel(ctx)
	var follower sync.WaitGroup
	follower.Go(func() { j.watch.follow(following) })
	results, root, err = job.Run(ctx, cmds)
	stop()
	follower.Wait()
	if err == nil {
		err = context.Cause(ctx)
	}
	return results, root, err
}

// continuesWithout reports whether the other ranks continue without a lost one, and then prints
// that. what is what they lack: the rank or its examples.
func (j *processes) continuesWithout(r launch.Result, what string) bool {
	if !j.watch.continuesWithout(r.Rank) {
		return false
	}
	fmt.Fprintf(j.Stderr, "gvw run: rank %d has ended (%s); the others continue without %s\n", r.Rank, j.logs.howEnded(r), what)
	return true
}
