// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/fault"
	"github.com/gvw-project/gvw/internal/launch"
)

// envFault names the variable with the faults that shall strike.
const envFault = "GVW_FAULT"

// attempt is which attempt of its rank this process is, from 1: launchers that start
// a process again say so.
func (p *program) attempt() (uint64, error) {
	value := p.Getenv(launch.EnvAttempt)
	if value == "" {
		return 1, nil
	}
	n, err := strconv.ParseUint(value, 10, 32)
	if err != nil || n == 0 {
		return 0, cli.Usagef("%s=%s is no number from 1 on: gvw run and gvw supervise set this variable, nobody else should", launch.EnvAttempt, value)
	}
	return n, nil
}

// faultPlan reads GVW_FAULT for a job of total ranks; nil: there is none.
func (p *program) faultPlan(total int, sharesMemory bool) (fault.Plan, error) {
	text := p.Getenv(envFault)
	if text == "" {
		return nil, nil
	}
	plan, err := fault.Parse(text)
	if err != nil {
		return nil, cli.Usagef("%s: %w (gvw faults lists what there is)", envFault, err)
	}
	if f, ok := plan.Within(total); !ok {
		return nil, cli.Usagef("%s: %v: the ranks are 0 to %d", envFault, f, total-1)
	}
	switch {
	case total == 1 && plan.Needs(fault.Drop, fault.Garble, fault.HalfOpen):
		return nil, cli.Usagef("%s: a process alone has no connections to break: drop, garble and halfopen are for jobs of several", envFault)
	case sharesMemory && plan.Needs(fault.Garble, fault.HalfOpen):
		return nil, cli.Usagef("%s: garble and halfopen are about connections, and ranks on one machine add up in shared memory: add --shm off", envFault)
	case stopSelf == nil && plan.Needs(fault.Stop):
		return nil, cli.Usagef("%s: this system cannot stop a process: use kill", envFault)
	}
	return plan, nil
}

// armFaults lets the faults of GVW_FAULT strike in this process.
// Launchers that start the whole job again count its generations.
func (p *program) armFaults(at launch.Place, generation uint64, sharesMemory bool) error {
	plan, err := p.faultPlan(max(at.Total, 1), sharesMemory)
	if err != nil || plan == nil {
		return err
	}
	attempt, err := p.attempt()
	if err != nil {
		return err
	}
	if p.replaces {
		attempt++ // the rank has had another one
	}
	p.rank = at.Rank
	log := p.Logger(slog.LevelInfo, true) // with the time, to tell how long it took the others
	fault.Arm(plan, fault.Life{Attempt: attempt, Generation: generation}, fault.Hands{
		Exit:  p.Exit,
		Kill:  killSelf,
		Crash: crashSelf,
		Stop:  stopSelf,
		Say:   func(text string) { log.Warn(text + " (" + envFault + ")") },
	})
	return nil
}

// killSelf ends this process without a chance to tidy up. It returns when that does
// not work, which nobody can help.
func killSelf() {
	if self, err := os.FindProcess(os.Getpid()); err == nil && self.Kill() == nil {
		select {}
	}
}

// crashSelf ends this process as a fault in one of its goroutines would.
func crashSelf() {
	go panic("BUG: asked for by " + envFault)
	select {}
}

// struckFile is an output file before whose end a fault may strike.
type struckFile struct {
	hdfsio.File
	rank int
}

func (f *struckFile) Commit() error {
	fault.At(f.rank, fault.Write)
	return f.File.Commit()
}

func (f *struckFile) CommitNew() error {
	fault.At(f.rank, fault.Write)
	return f.File.CommitNew()
}

// faultsCommand is gvw faults.
func (p *program) faultsCommand(_ context.Context, args []string) error {
	if len(args) > 0 && args[0] != "--help" && args[0] != "-h" {
		return cli.Usagef("gvw faults takes nothing, but got %q", args[0])
	}
	var b strings.Builder
	b.WriteString("GVW_FAULT makes a process break itself, to test what the others do about it:\n\n" +
		"  GVW_FAULT=rank:2,op:17,kind:kill gvw run -n 4 -- -d train.vw -f model\n\n" +
		"Faults are separated by semicolons. Each says who, where and what:\n\n" +
		"  rank:R        whom it strikes; all ranks if left out\n" +
		"  attempt:K     in which attempt of the rank, or any (1): a restarted one lives\n" +
		"  generation:K  in which generation of the run (--generation), or any (1)\n")
	err := errors.Join(
		describe(&b, "\nWhere, one of:\n", ":N", fault.Points),
		describe(&b, "\nWhat, as kind:K, one of:\n", "", fault.Kinds[fault.Exit:]),
	)
	if err != nil {
		return err
	}
	b.WriteString("\nExamples:\n\n" +
		"  rank:0,delivery:1,kind:exit,code:9    rank 0 exits when the model is to be written\n" +
		"  rank:3,work:2,slow:10                 from step 2 on, rank 3 takes ten times as long\n" +
		"  rank:1,op:5,kind:garble               needs --shm off where all are on one machine\n" +
		"  rank:1,work:1,kind:kill;rank:2,work:3,kind:stop\n" +
		"  op:100,delay:20ms                     every rank, from its 100th collective on\n")
	return p.Print(b.String())
}

func describe(b io.Writer, head, suffix string, all []fault.Description) error {
	if _, err := io.WriteString(b, head); err != nil {
		return err
	}
	for _, d := range all {
		if _, err := fmt.Fprintf(b, "  %-12s%s\n", d.Name+suffix, d.Does); err != nil {
			return err
		}
	}
	return nil
}
