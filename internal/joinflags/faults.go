// SPDX-License-Identifier: Apache-2.0

package joinflags

import (
	"log/slog"
	"os"
	"strconv"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/fault"
	"github.com/gvw-project/gvw/internal/launch"
)

// envFault is the variable with the faults to inject.
const envFault = "GVW_FAULT"

// attempt returns the number of this attempt of the rank, from 1. Launchers that restart a
// process set it.
func attempt(p *cli.Process) (uint64, error) {
	value := p.Getenv(launch.EnvAttempt)
	if value == "" {
		return 1, nil
	}
	n, err := strconv.ParseUint(value, 10, 32)
	if err != nil || n == 0 {
		return 0, cli.Usagef("%s=%s is no number from 1 on: unset this variable; only gvw run and gvw supervise set it", launch.EnvAttempt, value)
	}
	return n, nil
}

// FaultPlan parses GVW_FAULT for a job of total ranks. It returns nil if the variable is not
// set, and an error for a fault that could never occur in this job: a test would otherwise
// pass without its fault.
func FaultPlan(p *cli.Process, total int, sharesMemory bool) (fault.Plan, error) {
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
		return nil, cli.Usagef("%s: a single process has no connections to break: drop, garble and halfopen are for jobs of several", envFault)
	case sharesMemory && plan.Needs(fault.Garble, fault.HalfOpen):
		return nil, cli.Usagef("%s: garble and halfopen are about connections, and ranks on one machine add up in shared memory: add --shm off", envFault)
	case stopSelf == nil && plan.Needs(fault.Stop):
		return nil, cli.Usagef("%s: this system cannot stop a process: use kill", envFault)
	}
	return plan, nil
}

// ArmFaults injects the faults of GVW_FAULT in this process. replaces is true if the process was
// a spare and has the rank of a lost attempt, which counts as one more attempt of the rank.
// generation is that of --generation: the restarts of the whole job by its launcher, from 0. Plans count the starts, from 1.
func ArmFaults(p *cli.Process, at launch.Place, generation uint64, sharesMemory, replaces bool) error {
	plan, err := FaultPlan(p, max(at.Total, 1), sharesMemory)
	if err != nil || plan == nil {
		return err
	}
	n, err := attempt(p)
	if err != nil {
		return err
	}
	if replaces {
		n++
	}
	log := p.Logger(slog.LevelInfo, true) // with the time, to measure the reaction of other ranks
	fault.Arm(plan, fault.Life{Attempt: n, Generation: generation + 1}, fault.Hands{
		Exit:  p.Exit,
		Kill:  killSelf,
		Crash: crashSelf,
		Stop:  stopSelf,
		Say:   func(text string) { log.Warn(text + " (" + envFault + ")") },
	})
	return nil
}

// killSelf ends this process by SIGKILL, as an out-of-memory kill does. It returns if that fails.
func killSelf() {
	if self, err := os.FindProcess(os.Getpid()); err == nil && self.Kill() == nil {
		select {}
	}
}

// crashSelf ends this process by a panic in another goroutine, where no caller can recover it.
func crashSelf() {
	go panic("BUG: asked for by " + envFault)
	select {}
}
