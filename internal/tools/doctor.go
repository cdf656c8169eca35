// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/doctor"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/flags"
	"github.com/gvw-project/gvw/internal/joinflags"
	"github.com/gvw-project/gvw/internal/plain"
	"github.com/gvw-project/gvw/internal/spantree/server"
)

// doctorJob is the default unique ID of an examination: "doctor" in ASCII, far from the small
// numbers that users give their jobs.
const doctorJob = 0x646f63746f72

// Doctor runs gvw doctor. It has three forms: --verbs lists the devices of this machine, -n runs
// all ranks in this process, and the options of a job make it one rank of an examination.
func Doctor(ctx context.Context, p *cli.Process, c *cli.Command, args []string) error {
	s, err := c.Sets[0].Read(p, args)
	if s == nil {
		return err
	}
	cluster := slices.Concat(flags.ClusterNeeded, flags.ClusterExtra)
	if s.Has("verbs") {
		for _, name := range append([]string{"workers", "patience", "quiet"}, cluster...) {
			if s.Has(name) {
				return cli.Usagef("--%s would be ignored with --verbs, which lists only the devices of this machine", name)
			}
		}
		return showVerbs(p)
	}
	if s.Has("workers") {
		for _, name := range cluster {
			if s.Has(name) && !slices.Contains([]string{"bind", "advertise", "port_range"}, name) {
				return cli.Usagef("--%s cannot go with -n: all ranks and their server are in this process", name)
			}
		}
		return checkedDispatch(ctx, s, joinflags.CheckAddresses(s), func(c *cli.Context) error { return examineHere(p, c) })
	}
	if !joinflags.HasAny(s, cluster) {
		return cli.Usagef("gvw doctor: the ranks are missing: give -n 4 for ranks on this machine, or on each host --span_server HOST --total N --node I")
	}
	// All ranks of an examination must agree on a number, and users rarely need two at once.
	if !s.Has("unique_id") {
		s.Set("unique_id", fmt.Sprint(doctorJob))
	}
	return checkedDispatch(ctx, s, joinflags.Check(s), func(c *cli.Context) error { return examine(p, c) })
}

// checkedDispatch checks the number of ranks, and calls action unless there are errors.
func checkedDispatch(ctx context.Context, s *cli.Settings, errs []error, action cli.ActionFunc) error {
	if s.Has("workers") && s.Number("workers") < 2 || !s.Has("workers") && len(errs) == 0 && s.Number("total") < 2 {
		errs = append(errs, cli.Usagef("one rank has no other rank to reach: give two or more"))
	}
	if !s.Has("workers") && len(errs) == 0 && s.Number("total") > doctor.MaxRanks {
		errs = append(errs, cli.Usagef("--total %d: at most %d ranks are examined at once", s.Number("total"), doctor.MaxRanks))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return s.Dispatch(ctx, action)
}

// examine runs one rank of an examination.
func examine(p *cli.Process, c *cli.Context) error {
	at, _, err := joinflags.Place(p, c)
	if err != nil {
		return err
	}
	job, err := joinflags.Config(c, at)
	if err != nil {
		return err
	}
	if err := joinflags.Guard(p, c, job); err != nil {
		return err
	}
	r, err := doctor.Run(c.Context, doctor.Config{
		Server: job.Server, Credentials: job.Credentials, Job: job.Job, Rank: job.Rank, Total: job.Total,
		Listen: job.Listen, Advertise: job.Advertise, StartTimeout: job.StartTimeout,
		Patience: c.Duration("patience"), Log: p.Logger(cli.LogLevel(c.Bool("quiet"), ""), true),
	})
	if err != nil {
		return err
	}
	return findings(p, r, c.Bool("quiet"))
}

// examineHere examines the network of this machine: all ranks and a server run in this process.
func examineHere(p *cli.Process, c *cli.Context) (err error) {
	ctx, cancel := context.WithCancel(c.Context)
	defer cancel()
	// A generated secret keeps other processes of this machine out of the examination.
	secret, err := auth.NewSecret(auth.NewSecretText())
	if err != nil {
		return err
	}
	creds := &auth.Credentials{Secret: secret}
	local, err := server.StartLocal(ctx, 0, server.ServerConfig{Credentials: creds})
	if err != nil {
		return fmt.Errorf("cannot start a server: %w", err)
	}
	defer func() { err = errors.Join(err, local.Stop()) }()
	n := int(c.Uint64("workers"))
	reports, errs := make([]*doctor.Report, n), make([]error, n)
	var ranks sync.WaitGroup
	for rank := range n {
		ranks.Go(func() {
			reports[rank], errs[rank] = doctor.Run(ctx, doctor.Config{
				Server: fmt.Sprintf("127.0.0.1:%d", local.Port), Credentials: creds, Rank: rank, Total: n,
				Listen: joinflags.ListenAt(c.String("bind"), c.String("port_range")), Advertise: c.String("advertise"),
				Patience: c.Duration("patience"),
			})
			if errs[rank] != nil {
				cancel() // the other ranks would wait for this one until their time-outs
			}
		})
	}
	ranks.Wait()
	// A rank whose own error is the cancellation was ended because of another one: its error is
	// not the cause.
	for _, err := range errs {
		if err != nil && (!errors.Is(err, context.Canceled) || c.Context.Err() != nil) {
			return err
		}
	}
	return findings(p, reports[0], c.Bool("quiet"))
}

// findings prints the findings: all of them on rank 0, and on other ranks those that concern
// them. Faults are diagnostics, not data.
func findings(p *cli.Process, r *doctor.Report, quiet bool) error {
	// Another rank prints its table only if it has no findings of some ranks: rank 0 may then have
	// none of this one.
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
		return p.Print(fmt.Sprintf("no faults: %d ranks, %d directions between them\n", len(r.Ranks), len(r.Ways)))
	}
	for _, f := range faults {
		fmt.Fprintln(p.Stderr, "gvw doctor: "+plain.Text(f))
	}
	if len(faults) == 1 {
		return errors.New("1 fault in the network between the ranks: see above")
	}
	return fmt.Errorf("%d faults in the network between the ranks: see above", len(faults))
}
