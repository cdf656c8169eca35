// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/gvw-project/gvw/internal/cli"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/doctor"
	"github.com/gvw-project/gvw/internal/plain"
)

// catDoctor is the category of what gvw doctor takes.
const catDoctor = "Examination"

// doctorFlags are the options of `gvw doctor`.
var doctorFlags = append([]*spec{
	{name: "workers", short: "n", kind: integer, positive: true, max: doctor.MaxRanks, category: catDoctor, arg: "N", help: "ranks on this machine, with a server of their own"},
	{name: "patience", kind: duration, positive: true, category: catDoctor, arg: "T", def: "5s", help: "time for a rank to answer"},
	{name: "verbs", kind: boolean, category: catDoctor, help: "the RDMA devices of this machine, and nothing else"},
	{name: "quiet", kind: boolean, category: catDoctor, help: "no table: only what is wrong"},
}, append(clusterFlags("shard", "run_dir", "checkpoint", "checkpoint_every", "resume", "schedule", "checksum", "heartbeat", "lost_after", "server_timeout", "stall_timeout", "on_loss", "elastic", "replace_timeout", "slow_factor", "transport", "verbs_device", "trace_dir", "allow", "allow_vw", "job_token"), &spec{name: "help", short: "h", kind: boolean, category: catOther, help: "this page"})...)

// doctorJob is the unique_id of an examination, if none is given: far from the small
// numbers that people give their jobs.
const doctorJob = 0x646f63746f72

// doctorHelp is the help of gvw doctor.
func doctorHelp() string {
	var b strings.Builder
	b.WriteString("gvw doctor examines the network between ranks: whether each reaches each, how fast,\n" +
		"and whether clocks and packet sizes agree. Start it as a job is started, with the\n" +
		"same addresses; rank 0 says what is wrong.\n\n" +
		"  gvw doctor --span_server gateway --total 8 --node 3\n" +
		"  gvw doctor -n 4\n" +
		"  gvw doctor --verbs\n")
	writeOptions(&b, doctorFlags, true)
	b.WriteString("\nThe exit code is 0 where all is well.\n")
	return b.String()
}

// doctorCommand is gvw doctor.
func (p *program) doctorCommand(ctx context.Context, args []string) error {
	s, err := normalise(doctorFlags, args, p.Env, os.ReadFile)
	switch {
	case err != nil:
		return err
	case s.has("help"):
		return p.Print(doctorHelp())
	case len(s.words)+len(s.rest) > 0:
		return cli.Usagef("gvw doctor takes options only, but got %q", append(s.words, s.rest...)[0])
	}
	cluster := slices.Concat(clusterNeeded, clusterExtra)
	if s.has("verbs") {
		for _, name := range append([]string{"workers", "patience", "quiet"}, cluster...) {
			if s.has(name) {
				return cli.Usagef("--%s would be ignored with --verbs, which lists the devices of this machine alone", name)
			}
		}
		return p.showVerbs()
	}
	if s.has("workers") {
		for _, name := range cluster {
			if s.has(name) && !slices.Contains([]string{"bind", "advertise", "port_range"}, name) {
				return cli.Usagef("--%s cannot go with -n: all ranks and their server are in this process", name)
			}
		}
		return p.treat(ctx, s, checkAddresses(s), p.examineHere)
	}
	if !hasAny(s, cluster) {
		return cli.Usagef("gvw doctor: who takes part? As in gvw doctor -n 4, on this machine, or on each host gvw doctor --span_server HOST --total N --node I")
	}
	if !s.has("unique_id") {
		s.set("unique_id", fmt.Sprint(doctorJob))
	}
	return p.treat(ctx, s, checkCluster(s), p.examine)
}

func (p *program) treat(ctx context.Context, s *settings, errs []error, action cli.ActionFunc) error {
	if s.has("workers") && s.number("workers") < 2 || !s.has("workers") && len(errs) == 0 && s.number("total") < 2 {
		errs = append(errs, cli.Usagef("a rank alone has nobody to reach: give two or more"))
	}
	if !s.has("workers") && len(errs) == 0 && s.number("total") > doctor.MaxRanks {
		errs = append(errs, cli.Usagef("--total %d: at most %d ranks are examined at once", s.number("total"), doctor.MaxRanks))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return p.dispatch(ctx, s.args(), doctorFlags, action)
}

// examine is one rank of an examination.
func (p *program) examine(c *cli.Context) error {
	at, _, err := place(c)
	if err != nil {
		return err
	}
	job, err := clusterConfig(c, at)
	if err != nil {
		return err
	}
	if err := p.guard(c, job); err != nil {
		return err
	}
	r, err := doctor.Run(c.Context, doctor.Config{
		Server: job.Server, Credentials: job.Credentials, Job: job.Job, Rank: job.Rank, Total: job.Total,
		Listen: job.Listen, Advertise: job.Advertise, StartTimeout: job.StartTimeout,
		Patience: c.Duration("patience"), Log: p.Logger(logLevel(c.Bool("quiet"), ""), true),
	})
	if err != nil {
		return err
	}
	return p.findings(r, c.Bool("quiet"))
}

// examineHere is an examination of this machine alone.
func (p *program) examineHere(c *cli.Context) (err error) {
	ctx, cancel := context.WithCancel(c.Context)
	defer cancel()
	secret, err := auth.NewSecret(auth.Draw())
	if err != nil {
		return err
	}
	creds := &auth.Credentials{Secret: secret}
	server, err := startServer(ctx, 0, creds, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	n := int(c.Uint64("workers"))
	reports, errs := make([]*doctor.Report, n), make([]error, n)
	var ranks sync.WaitGroup
	for rank := range n {
		ranks.Go(func() {
			reports[rank], errs[rank] = doctor.Run(ctx, doctor.Config{
				Server: fmt.Sprintf("127.0.0.1:%d", server.port), Credentials: creds, Rank: rank, Total: n,
				Listen: listenAt(c.String("bind"), c.String("port_range")), Advertise: c.String("advertise"),
				Patience: c.Duration("patience"),
			})
			if errs[rank] != nil {
				cancel() // the others would wait for it
			}
		})
	}
	ranks.Wait()
	for _, err := range errs {
		if err != nil && (!errors.Is(err, context.Canceled) || c.Context.Err() != nil) {
			return err
		}
	}
	return p.findings(reports[0], c.Bool("quiet"))
}

// findings prints what was found, on rank 0 all of it, on others what concerns them.
// What is wrong is talk, not data.
func (p *program) findings(r *doctor.Report, quiet bool) error {
	faults := r.Faults()
	if !quiet && (r.Rank == 0 || len(r.Silent) > 0) {
		if err := p.Print(r.Table()); err != nil {
			return err
		}
	}
	if len(faults) == 0 {
		if quiet {
			return nil
		}
		return p.Print(fmt.Sprintf("all is well: %d ranks, %d ways\n", len(r.Ranks), len(r.Ways)))
	}
	for _, f := range faults {
		fmt.Fprintln(p.Stderr, "gvw doctor: "+plain.Text(f))
	}
	if len(faults) == 1 {
		return errors.New("one thing is wrong in the network between the ranks")
	}
	return fmt.Errorf("%d things are wrong in the network between the ranks", len(faults))
}
