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

// envFault names the variable with the faults that shall strike.
const envFault = "GVW_FAULT"

// attempt is which attempt of its rank this process is, from 1: launchers that start
// a process again say so.
func attempt(p *cli.Process) (uint64, error) {
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

// FaultPlan reads GVW_FAULT for a job of total ranks; nil: there is none.
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
		return nil, cli.Usagef("%s: a process alone has no connections to break: drop, garble and halfopen are for jobs of several", envFault)
	case sharesMemory && plan.Needs(fault.Garble, fault.HalfOpen):
		return nil, cli.Usagef("%s: garble and halfopen are about connections, and ranks on one machine add up in shared memory: add --shm off", envFault)
	case stopSelf == nil && plan.Needs(fault.Stop):
		return nil, cli.Usagef("%s: this system cannot stop a process: use kill", envFault)
	}
	return plan, nil
}

// ArmFaults injects the faults of GVW_FAULT in this process. replaces says that it has
// the rank of another attempt that was lost. Launchers that start the whole job again count
// its generations.
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
	log := p.Logger(slog.LevelInfo, true) // with the time, to tell how long it took the others
	fault.Arm(plan, fault.Life{Attempt: n, Generation: generation}, fault.Hands{
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
