// SPDX-License-Identifier: Apache-2.0

package storm

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

const workers = 4

// disturbance is the fault of one job.
type disturbance struct {
	kind   string // for the table
	plan   string // of GVW_FAULT; "": none
	shared bool   // the ranks share memory

	// From outside: a signal to a rank's process after a time.
	signal string // KILL or STOP; "": none
	rank   int
	after  time.Duration
}

// String returns the command that repeats the disturbance, as far as that is possible.
func (d disturbance) String() string {
	s := fmt.Sprintf("GVW_FAULT='%s'", d.plan)
	if !d.shared {
		s += " --shm off"
	}
	if d.signal != "" {
		s += fmt.Sprintf(" and SIG%s to rank %d after %v", d.signal, d.rank, d.after)
	}
	return s
}

// point is a place of a fault, and how often a rank passes it in the job of the storm. A fault
// at a later pass has no effect, and is counted as a miss.
type point struct {
	name string
	most int
	only int // the rank that passes it; -1: all
}

var (
	inTheMiddle = []point{{"op", 28, -1}, {"work", 6, -1}, {"commit", 6, -1}}
	anywhere    = append([]point{{"wiring", 2, -1}, {"delivery", 1, 0}, {"write", 1, 0}}, inTheMiddle...)
)

// kinds are the kinds of a storm. kill and stop occur twice: at a point in the process, and
// from outside at any instruction. Half-open connections are missing: while neither end knows
// of the other's collective, nothing ends the wait (docs/faults.md).
var kinds = []string{"exit", "kill", "stop", "slow", "drop", "garble", "two killed", "killed twice", "SIGKILL", "SIGSTOP"}

// draw returns the n-th disturbance of a seed.
func draw(seed, n uint64, kinds []string, length time.Duration) disturbance {
	r := rand.New(rand.NewPCG(seed, n))
	d := disturbance{kind: kinds[int(n)%len(kinds)], shared: r.IntN(2) == 0, rank: r.IntN(workers)}
	strike := func(points []point, what string, rank int) string {
		p := points[r.IntN(len(points))]
		if p.only >= 0 {
			rank = p.only
		}
		return fmt.Sprintf("rank:%d,%s:%d,%s", rank, p.name, 1+r.IntN(p.most), what)
	}
	switch d.kind {
	case "exit", "kill", "stop":
		d.plan = strike(anywhere, "kind:"+d.kind, d.rank)
	case "slow":
		d.plan = strike(inTheMiddle, fmt.Sprintf("delay:%dms", 1+r.IntN(200)), d.rank)
	case "drop":
		d.plan = strike(inTheMiddle, "kind:drop", d.rank)
	case "garble":
		d.shared = false // with shared memory no data crosses connections
		d.plan = strike(inTheMiddle, "kind:garble", d.rank)
	case "two killed":
		d.plan = strike(inTheMiddle, "kind:kill", d.rank) + ";" + strike(inTheMiddle, "kind:kill", (d.rank+1+r.IntN(workers-1))%workers)
	case "killed twice":
		d.plan = strike(inTheMiddle, "kind:kill", d.rank) + ";" + strike(inTheMiddle, "kind:kill,attempt:2", d.rank)
	case "SIGKILL", "SIGSTOP":
		d.signal = strings.TrimPrefix(d.kind, "SIG")
		d.after = time.Duration(r.Int64N(int64(length)))
	}
	return d
}
