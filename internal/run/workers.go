// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gvw-project/gvw/feature/cache"
	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/internal/launch"
)

// symptom reports whether an exit code of gvw is the consequence of another rank's failure: a rank that lost a peer,
// or waited in vain for one, is not the root cause.
func symptom(code int) bool { return code == cli.ExitLost || code == cli.ExitDeadline }

// runWorkers starts this program once per rank and waits until all have ended. It restarts a
// worker that dies as long as the job can use it.
func (p *launcher) runWorkers(ctx context.Context, fsys *hdfsio.URLs, all *processes, secret []byte) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find this program to start workers: %w", err)
	}
	pl, watch, logs := all.plan, all.watch, all.logs
	env := WorkerEnv(p.Env, p.table)
	cmds := make([]*exec.Cmd, len(pl.workers)+len(pl.spares)) // ranks, then spares
	for rank, w := range slices.Concat(pl.workers, pl.spares) {
		// The full slice expression makes append copy: all workers share env.
		own := env[:len(env):len(env)]
		if rank >= len(pl.workers) { // spare I is attempt I+1, and one more when it takes a lost rank: see joinflags.ArmFaults
			own = append(own, fmt.Sprintf("%s=%d", launch.EnvAttempt, 1+rank-len(pl.workers)))
		}
		name, args := self, w.Args()
		if all.hosts == nil {
			own = launch.ShareProcessors(own, len(pl.workers), threadsOf(w))
		} else if name, args, err = all.hosts.command(self, w.Get("run_id"), rank, len(pl.workers), w, own); err != nil {
			return err
		}
		cmds[rank] = all.command(rank, own, io.Discard, name, args)
	}
	lost := 0 // processes that spares have replaced
	results, root, err := all.run(ctx, cmds, launch.Job{
		Grace:   all.grace(),
		Symptom: symptom,
		Secret:  secret,
		Again:   func(r launch.Result) bool { return watch.mayContinue(symptom(r.Code)) && !watch.removed(r.Rank) },
		Died:    func(r launch.Result) { p.warnLeft(pl.removeLeft(fsys, r.Rank, r.Pid)) },
		Without: func(r launch.Result) bool {
			if len(pl.spares) > 0 {
				return p.replaced(pl, watch, r, logs.howEnded(r), &lost)
			}
			return pl.shrinks && all.continuesWithout(r, "its examples")
		},
	})
	if err != nil {
		return err
	}
	// The run is complete although a worker was killed while it ended, or its next attempt
	// came too late: all owed files are delivered.
	if root >= 0 && (results[root].Signal != nil || results[root].Attempt > 1 && results[root].Code == cli.ExitRefused) && watch.finished() {
		return nil
	}
	if results[0].Spared && len(pl.spares) > 0 {
		fmt.Fprintf(p.Stderr, "gvw run: rank 0 was lost: the diagnostics of its spare are in %s\n", filepath.Join(logs.dir, "spare-*.log"))
	} else if at := slices.IndexFunc(results, func(r launch.Result) bool { return r.Code == 0 && r.Err == nil }); at > 0 && results[0].Spared {
		fmt.Fprintf(p.Stderr, "gvw run: rank 0 was lost: the diagnostics of rank %d are in %s\n", at, logs.name(at))
	}
	if root >= 0 {
		return p.rootCause(results[root], pl, logs, watch.found())
	}
	return nil
}

// threadsOf returns the number of threads by which a worker learns.
func threadsOf(w *cli.Settings) int {
	return max(1, int(w.Number("threads")), int(w.Number("hogwild")))
}

// removeLeft removes the temporary files of a dead process. A spare may have had any rank, so it
// tries the names of all. pid 0 is that of a process that could not be started.
func (pl *plan) removeLeft(fsys *hdfsio.URLs, process, pid int) error {
	if pid == 0 {
		return nil // RemoveTemps would remove the files of all processes
	}
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

// removeAsides removes the temporary files that process pid of this machine has left beside the outputs of a rank.
func removeAsides(fsys *hdfsio.URLs, w *cli.Settings, pid int) error {
	var errs []error
	for _, option := range slices.Concat(files.OnceFiles, []string{"predictions", "raw_predictions"}) {
		if name := w.Get(option); name != "" && !slices.Contains(files.StdoutNames, name) {
			errs = append(errs, fsys.RemoveTemp(name, pid))
		}
	}
	if name := w.Get("checkpoint"); name != "" {
		errs = append(errs, fsys.RemoveTemps(name, pid))
	}
	switch file, data := w.Get("cache_file"), w.Get("data"); {
	case file != "":
		errs = append(errs, cache.RemoveTemps(files.LocalPath(file), pid))
	case w.Has("cache") && data != "" && !hdfsio.Remote(data):
		errs = append(errs, cache.RemoveTemps(files.LocalPath(data)+".cache", pid))
	}
	return errors.Join(errs...)
}

// defaultRestarts is the default of --max_restarts.
const defaultRestarts = 3

// WorkerEnv returns the environment without the variables that set options: the arguments of
// the workers have their values, divided among the ranks.
func WorkerEnv(env []string, t *cli.Table) []string {
	options := map[string]bool{}
	for _, s := range t.Specs() {
		options[s.Env()] = true
	}
	var out []string
	for _, kv := range env {
		if name, _, _ := strings.Cut(kv, "="); !options[name] && name != launch.EnvLifeline && name != launch.EnvAttempt && name != launch.EnvLeaves && name != launch.EnvSecret && name != launch.EnvStdinEnd {
			out = append(out, kv)
		}
	}
	return out
}

// name returns the name of a process of the job: ranks come first, then spares.
func (pl *plan) name(process int) string {
	if spare := process - len(pl.workers); spare >= 0 {
		return fmt.Sprintf("spare %d", spare)
	}
	return fmt.Sprintf("rank %d", process)
}

// replaced reports whether a job with spares continues without a process that is not restarted.
// lost counts such processes; there are enough spares as long as they are no more than the
// spares.
func (p *launcher) replaced(pl *plan, watch *jobWatch, r launch.Result, how string, lost *int) bool {
	if watch.finished() {
		return true // it was stopped, and continued after the end of the job
	}
	if !launch.Curable(r.Code) || *lost >= len(pl.spares) || !watch.mayContinue(symptom(r.Code)) {
		return false
	}
	*lost++
	fmt.Fprintf(p.Stderr, "gvw run: %s has ended (%s); the job continues (spares left: %d)\n", pl.name(r.Rank), how, len(pl.spares)-*lost)
	return true
}
