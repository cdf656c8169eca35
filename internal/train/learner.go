// SPDX-License-Identifier: Apache-2.0

package train

import (
	"context"
	"os"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/internal/joinflags"
	"github.com/gvw-project/gvw/internal/launch"
	"github.com/gvw-project/gvw/learn"
)

// Learner trains or predicts, in one process or as a rank of a job.
type Learner struct {
	*cli.Process
	files    *files.Set
	rank     int              // rank of this process; 0 without a job
	Task     task             // map task that the learner runs in; nil: none
	group    *allreduce.Group // group of a rank that joined before its inputs were known; nil: learn.Run joins
	guard    allreduce.Config // credentials with which that group joined
	members  []int            // members of that group; nil: all ranks
	replaces bool             // this process was a spare, and has the rank of a lost one
	report   *learn.Report    // report of the last training
}

// task is a launcher that decides on outputs and memory, such as the map task of package mapper.
type task interface {
	// Within returns the file system for outputs.
	Within(fsys hdfsio.FS) hdfsio.FS
	// Prepare changes the configuration before anything is allocated.
	Prepare(cfg *learn.Config) error
}

// New returns a learner of the process.
func New(p *cli.Process) *Learner { return &Learner{Process: p, files: files.New(p)} }

// Command runs gvw without a command.
func Command(ctx context.Context, p *cli.Process, flags *cli.FlagSet, args []string) error {
	s, err := cli.Parse(flags, args, p.Env, os.ReadFile)
	switch {
	case err != nil:
		return err
	case s.Has("help"):
		return p.Print(flags.Page(len(s.Words) > 0 && s.Words[0] == "all"))
	case s.Has("version"):
		return p.Print(cli.Version() + "\n")
	}
	p.LogFormat = s.Get("log_format")
	l := New(p)
	// As in vw --args is not an ordinary option: it must be the only one.
	if len(args) == 2 && args[0] == "--args" {
		return l.learnLines(ctx, flags, args[1])
	}
	Note(p, s)
	TakeData(p, s)
	if isDaemon(s) {
		return l.daemon(ctx, s)
	}
	if s.Has("span_server") && !s.Has("on_loss") && !s.Has("malt") && p.Getenv(launch.EnvAttempt) != "" {
		s.Set("on_loss", joinflags.RestartedOnLoss) // gvw supervise restarts this rank
	}
	if err := Check(s); err != nil {
		return err
	}
	// The checks have seen the options of the job. A job of one process needs no server.
	joinflags.LeaveServer(s)
	if s.Has("spare") {
		return l.spare(ctx, s)
	}
	// With {rank} in -d the inputs depend only on the rank, which is known before joining.
	// The members of a job with --malt are known only after the passes, and shares are those of all ranks.
	if s.Has("elastic") && s.Has("shard") && !s.Has("malt") && !s.Has("dry_run") {
		return l.joinEarly(ctx, s)
	}
	return s.Dispatch(ctx, l.Learn)
}

// create returns a function that creates the outputs of the rank.
func (l *Learner) create(ctx context.Context, fsys hdfsio.FS) func(string) (learn.Output, error) {
	if l.Task != nil {
		fsys = l.Task.Within(fsys)
	}
	return l.files.Creator(ctx, fsys, l.rank)
}
