// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/checkpoint"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/internal/joinflags"
	"github.com/gvw-project/gvw/internal/launch"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/internal/spantree/server"
	"github.com/gvw-project/gvw/internal/train"
)

// launcher is one call of gvw run.
type launcher struct {
	*cli.Process
	files *files.Set
	table *cli.Table
}

// newLauncher returns the launcher of a process. t has the options of the learner.
func newLauncher(p *cli.Process, t *cli.Table) *launcher {
	return &launcher{Process: p, files: files.New(p), table: t}
}

// launch starts a server in this process and the workers of a job on this machine, waits for
// them, and gathers their predictions.
func (p *launcher) launch(c *cli.Context, shardGiven bool, hosts *remoteHosts, s *cli.Settings) (err error) {
	ctx := c.Context
	job := localJob{
		workers:    int(c.Uint64("workers")),
		shard:      "bytes",
		shardGiven: shardGiven,
		id:         fmt.Sprintf("%016x", rand.Uint64()),
		uniqueID:   rand.Uint64(),
		serverPort: int(c.Uint64("port")),
		hosts:      hosts,
	}
	if shardGiven {
		job.shard = c.String("shard")
	}
	if s.Has("malt") && !s.Has("on_loss") && !c.IsSet("max_restarts") && c.Uint64("spares") == 0 {
		s.Set("on_loss", "abort") // predictions of a replaced rank would lack those of the lost attempt
	}
	job.spares = int(c.Uint64("spares"))
	switch {
	case c.IsSet("max_restarts"):
		job.restarts, job.asked = int(c.Uint64("max_restarts")), true
	case s.Get("on_loss") != "abort":
		job.restarts = defaultRestarts
	}
	// The lines of all ranks are this process's: its workers show none.
	bar := s.Get("progress_bar")
	s.Set("progress_bar")
	// A plan without the server's port finds the usage errors before a port or a folder is taken.
	if _, err := makePlan(job, s); err != nil {
		return err
	}
	if _, err := joinflags.FaultPlan(p.Process, job.workers, s.Get("shm") != "off"); err != nil {
		return err
	}
	fsys := p.files.System(s.Get, true)
	if err := expandData(ctx, fsys, s, job); err != nil {
		return err
	}
	if s.Has("dry_run") {
		pl, err := makePlan(job, s)
		if err != nil {
			return err
		}
		return pl.workers[0].Dispatch(ctx, train.New(p.Process).Learn)
	}
	if hosts == nil {
		// The memory is checked before any process starts; each worker sees only its own tables.
		if err := p.checkWorkers(ctx, job, s); err != nil {
			return err
		}
	} else {
		p.AllowCleanup(hostsCleanup)
		if hosts.copies {
			if err := hosts.copyProgram(ctx, p.Stderr); err != nil {
				return err
			}
		}
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
	local, err := startServer(ctx, job, creds, logs)
	if err != nil {
		return err
	}
	if hosts != nil {
		// Workers without a connection to this process learn the end from the server.
		defer context.AfterFunc(ctx, func() {
			_ = local.Server.Cancel(protocol.Job{UniqueID: job.uniqueID, RunKey: job.id}, "gvw run was told to end") // there may be no job
		})()
	}
	// The deferred calls run in reverse order: pieces are removed, the server stops, then the logs
	// end, which need the final error.
	defer func() { err = errors.Join(err, local.Stop()) }()
	job.serverPort = local.Port

	pl, err := makePlan(job, s)
	if err != nil {
		return err
	}
	if !s.Has("quiet") {
		fmt.Fprintf(p.Stderr, "gvw run: %d workers%s, server %s, logs in %s%s\n", job.workers, andSpares(job.spares), net.JoinHostPort(job.serverHost(), strconv.Itoa(job.serverPort)), logs.dir, logs.note())
	}
	defer func() { p.warnLeft(pl.removePieces(context.WithoutCancel(ctx), fsys)) }()
	rec, err := p.takeRecord(ctx, fsys, s, job)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rec.Close(err)) }()
	// The watch asks the server of this process directly, without a connection.
	watch := newJobWatch(local.Server.Status, job.uniqueID, job.workers, job.spares)
	shown, err := p.startPage(pageOptions{c.String("http"), c.String("http_token_file"), c.Bool("http_control"), s.Get("tls_cert"), s.Get("tls_key")}, local.Server, logs, watch)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, shown.Close()) }()
	if out := p.Stderr; files.ShowsProgress(out, bar, s.Has("quiet")) {
		lines := newRankLines(out, mostPasses(s))
		watch.show, p.Stderr = lines.show, lines
		defer func() {
			lines.End()
			p.Stderr = out
		}()
	}
	all := p.processesOf(pl, logs, watch, job.restarts)
	all.record, all.hosts = rec, hosts
	if err := p.runWorkers(ctx, fsys, all, secret); err != nil {
		return err
	}
	return p.complete(ctx, fsys, pl, s.Get("checkpoint"), job.id)
}

// complete writes the files that the ranks of a job that has succeeded have written in pieces, and removes what the job no
// longer needs. checkpoints is the value of --checkpoint; empty: there are none. run is the ID of the run.
func (p *launcher) complete(ctx context.Context, fsys *hdfsio.URLs, pl *plan, checkpoints, run string) error {
	if checkpoints != "" { // rank 0 removes them too, unless it was killed
		p.warnLeft(checkpoint.RemoveRun(ctx, fsys, checkpoints, run))
	}
	return p.gatherAll(ctx, fsys, pl)
}

// warnLeft prints the error of removing temporary files; nil: nothing. Such an error fails no job, since nothing that the
// user needs is lost.
func (p *launcher) warnLeft(err error) {
	if err != nil {
		fmt.Fprintf(p.Stderr, "gvw run: cannot remove temporary files, which are left: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
}

// startServer starts the server of the job in this process, on the loopback interface unless workers are on other machines.
// Its log and its reports of faults are in the folder of the logs.
func startServer(ctx context.Context, job localJob, creds *auth.Credentials, logs *logs) (*server.Local, error) {
	listen := "127.0.0.1"
	if job.hosts != nil {
		listen = job.hosts.listen()
	}
	local, err := server.StartAt(ctx, net.JoinHostPort(listen, strconv.Itoa(job.serverPort)), server.ServerConfig{Credentials: creds, FaultDir: logs.dir, Log: slog.New(slog.NewTextHandler(logs.server, nil))})
	if err != nil {
		return nil, fmt.Errorf("cannot start the server (another --port, or none, may help): %w", err)
	}
	return local, nil
}

// checkWorkers returns an error if the weights of all workers together do not fit the memory of
// this machine. Each worker would otherwise find that its own weights fit.
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

// runSecret returns the secret of a run: that of the file, or a new one. Workers inherit it as
// a file descriptor. On a system where they cannot inherit one there is no secret.
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

// expandData replaces patterns by the names of files, and checks that all files exist.
// Otherwise each worker would report a missing file in its log.
func expandData(ctx context.Context, fsys hdfsio.FS, s *cli.Settings, job localJob) error {
	var names []string
	for _, name := range s.All("data") {
		if strings.Contains(name, files.RankMark) {
			names = append(names, name)
			if job.hosts != nil {
				continue // they may be on the disks of those machines
			}
			for rank := range job.workers {
				own := strings.ReplaceAll(name, files.RankMark, strconv.Itoa(rank))
				if err := checkFiles(ctx, fsys, own); err != nil {
					return fmt.Errorf("rank %d: %w", rank, err)
				}
			}
			continue
		}
		found, err := hdfsio.Expand(ctx, fsys, []string{name})
		if err == nil {
			err = checkFiles(ctx, fsys, found...)
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
	return checkFiles(ctx, fsys, valid...)
}

// checkFiles returns an error if a file is missing.
func checkFiles(ctx context.Context, fsys hdfsio.FS, names ...string) error {
	_, err := hdfsio.Split(ctx, fsys, names, hdfsio.Shard{})
	return err
}

// andSpares returns the number of spares as text for the first line of the launcher.
func andSpares(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return " and 1 spare"
	}
	return fmt.Sprintf(" and %d spares", n)
}
