// SPDX-License-Identifier: Apache-2.0

package cause

import (
	"fmt"
	"time"
)

// ackDelay limits the time from a rank's last frame to the last acknowledgement of its host, if both stop at once.
const ackDelay = time.Second

// silentFor returns "silent for 10s".
func silentFor(r *Rank) string {
	return fmt.Sprintf("silent for %v", r.Silent.Round(100*time.Millisecond))
}

// silent judges a rank from which the server gets nothing. If its host answers nevertheless, its process is stopped. The
// host answers by its kernel, or by another rank on it.
func (e *Evidence) silent(rank int, since string) Verdict {
	r := e.find(rank)
	if r == nil {
		r = &Rank{Rank: rank}
	}
	const stopped = "its process is stopped, or gets no processor time"
	const down = "it is down or cut off"
	answers, alsoSilent := e.onHostOf(r)
	switch {
	case r.KernelAck > 0 && r.KernelAck < r.Silent-ackDelay:
		return e.say(rank, ProcessStopped, "stopped answering (%s), while the kernel of its host answers: %s", since, stopped)
	case r.KernelAck > 0:
		return e.say(rank, HostSilent, "stopped answering (%s), and so did its host: %s", since, down)
	case answers >= 0:
		return e.say(rank, ProcessStopped, "stopped answering (%s), while rank %d on its host answers: %s", since, answers, stopped)
	case alsoSilent >= 0:
		return e.say(rank, HostSilent, "stopped answering (%s), and so did rank %d on its host: %s, probably", since, alsoSilent, down)
	}
	return e.say(rank, HostSilent, "stopped answering (%s): its host is down or cut off, or its process is stopped", since)
}

// onHostOf returns another rank on the host of a rank that answers, and one that does not; -1: there is none. Ranks are on
// one host if both its name and its address are equal: hosts behind one address have names, and containers share one.
func (e *Evidence) onHostOf(r *Rank) (answers, alsoSilent int) {
	answers, alsoSilent = -1, -1
	for _, o := range e.Ranks {
		switch {
		case o.Rank == r.Rank || r.Host == "" || r.Address == "" || o.Host != r.Host || o.Address != r.Address:
		case o.Silent <= silence && o.Silent < r.Silent && answers < 0:
			answers = o.Rank
		case o.Silent > silence && alsoSilent < 0:
			alsoSilent = o.Rank
		}
	}
	return answers, alsoSilent
}
