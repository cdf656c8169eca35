// SPDX-License-Identifier: Apache-2.0

package cause

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gvw-project/gvw/internal/monitor/events"
	"github.com/gvw-project/gvw/internal/plain"
)

// Judge returns the cause of a stall or a failure.
func Judge(e Evidence) Verdict {
	v := e.judge()
	if len(v.Line) > MaxLine {
		v.Line = strings.ToValidUTF8(v.Line[:MaxLine-3], "") + "…"
	}
	return v
}

func (e *Evidence) judge() Verdict {
	if v, ok := e.callsDiffer(); ok {
		return v
	}
	switch e.How {
	case GaveUp:
		return e.ownError(e.Rank, 0)
	case Lost:
		return e.lost()
	case Edge:
		return e.edge(e.Rank, e.Peer)
	case Stalled:
		return e.stalled(e.Rank)
	}
	return e.server()
}

// server judges a fault that the server states itself.
func (e *Evidence) server() Verdict {
	kind := Unknown
	switch e.Fault {
	case events.FaultModels:
		kind = ModelsDiffer
	case events.FaultJournal:
		kind = JournalFailed
	}
	return Verdict{e.Rank, kind, plain.Text(e.Why)}
}

// find returns what is known of a rank; nil: nothing.
func (e *Evidence) find(rank int) *Rank {
	for _, r := range e.Ranks {
		if r.Rank == rank {
			return r
		}
	}
	return nil
}

// name returns "rank 3 (h3)".
func (e *Evidence) name(rank int) string {
	host := ""
	if r := e.find(rank); r != nil {
		host = r.Host
	} else if rank == e.Rank {
		host = e.Host
	}
	if host == "" {
		return fmt.Sprintf("rank %d", rank)
	}
	return fmt.Sprintf("rank %d (%s)", rank, plain.Text(host))
}

// say returns a verdict about a rank. The format follows its name.
func (e *Evidence) say(rank int, kind Kind, format string, args ...any) Verdict {
	return Verdict{rank, kind, e.name(rank) + " " + fmt.Sprintf(format, args...)}
}

// classes relates the class of a rank's own error to a cause. The text follows the rank's name.
var classes = map[events.Class]struct {
	kind Kind
	text string
}{
	events.DiskFull:    {FullDisk, "has a full disk"},
	events.ReadOnly:    {ReadOnlyDisk, "writes to a read-only file system"},
	events.NoFile:      {MissingFile, "misses a file"},
	events.Denied:      {DeniedFile, "has no permission for a file"},
	events.DiskFailed:  {DiskError, "has a failing disk"},
	events.Hung:        {HungDisk, "waits for a file system that does not answer"},
	events.Memory:      {OutOfMemory, "has no memory left"},
	events.Descriptors: {OutOfFiles, "has no file descriptor left"},
	events.BadData:     {BadInput, "has bad data"},
	events.BadOptions:  {BadSettings, "has bad options"},
	events.Credentials: {WrongSecret, "has a wrong secret or certificate"},
	events.Stopped:     {ToldToStop, "was told to stop"},
	events.Panicked:    {ProgramFault, "has failed by a fault of the program"},
	events.ServerLost:  {NoServer, "has lost the server"},
}

// failure returns the newest error of a rank in its own words.
func (r *Rank) failure() (f events.Event, ok bool) {
	if r == nil {
		return f, false
	}
	for i := len(r.Events) - 1; i >= 0; i-- {
		if r.Events[i].Kind == events.Failure {
			return r.Events[i], true
		}
	}
	return f, false
}

// maxBlame limits the chain of ranks that blame each other.
const maxBlame = 8

// ownError judges the error by which a rank has given up. A rank that gives up because of another one leads to that one.
func (e *Evidence) ownError(rank, depth int) Verdict {
	f, ok := e.find(rank).failure()
	why := plain.Text(e.Why)
	if !ok {
		return e.say(rank, OwnError, "gave up: %s", why)
	}
	if f.Name != "" {
		why = plain.Text(f.Name)
	}
	if c, ok := classes[f.Class]; ok {
		return e.say(rank, c.kind, "%s: %s", c.text, why)
	}
	switch f.Class {
	case events.CallDiffers:
		return e.say(rank, OtherCall, "differs from the others: %s", why)
	case events.NotStarted:
		return e.notStarted(why)
	case events.MaxWait:
		return e.stalled(rank)
	case events.Stall:
		return e.edge(rank, f.Peer)
	case events.Corrupt:
		return Verdict{f.Peer, EdgeCorrupt, fmt.Sprintf("bytes of %s were changed on the way to %s: %s", e.name(f.Peer), e.name(rank), why)}
	case events.PeerLost:
		if p := e.find(f.Peer); p == nil || p.Silent > silence {
			return e.say(f.Peer, ProcessEnded, "is gone: %s reports: %s", e.name(rank), why)
		} else if _, own := p.failure(); own && depth < maxBlame && f.Peer != rank {
			return e.ownError(f.Peer, depth+1)
		}
		return e.edge(rank, f.Peer)
	}
	return e.say(rank, OwnError, "gave up: %s", why)
}

// silence is the time without a frame from which a rank counts as silent: heartbeats come once a second by default.
const silence = 3 * time.Second

// lost judges the loss of a rank.
func (e *Evidence) lost() Verdict {
	switch {
	case e.Rank < 0:
		return e.server()
	case e.Fault == events.FaultNotReplaced:
		return e.say(e.Rank, NotReplaced, "was lost: %s", plain.Text(e.Why))
	}
	if f, ok := e.find(e.Rank).failure(); ok && e.Fault != events.FaultSilent { // it has sent its error before its connection ended
		if _, own := classes[f.Class]; own {
			return e.ownError(e.Rank, 0)
		}
	}
	switch e.Fault {
	case events.FaultSilent:
		if by, ago, ok := e.heardLately(); ok {
			return e.say(e.Rank, CutFromServer, "no longer reaches the server (%s), but %s completed a collective with it %v ago", plain.Text(e.Why), e.name(by), ago.Round(100*time.Millisecond))
		}
		return e.silent(e.Rank, plain.Text(e.Why))
	case events.FaultUnanswered:
		return e.say(e.Rank, NotAnswering, "sends heartbeats, but %s: its program is stuck", plain.Text(e.Why))
	case events.FaultNetwork:
		return e.say(e.Rank, NetworkBroken, "lost its connection to the server: %s", plain.Text(e.Why))
	case events.FaultProtocol:
		return e.say(e.Rank, BadFrames, "broke the protocol: %s", plain.Text(e.Why))
	case events.FaultDropped:
		return e.say(e.Rank, TakenAway, "lost its place: %s", plain.Text(e.Why))
	}
	return e.say(e.Rank, ProcessEnded, "ended without a report: its process was killed or has crashed")
}

// heardLately returns a rank that has completed a collective of all ranks well after the lost rank's last frame.
func (e *Evidence) heardLately() (by int, ago time.Duration, ok bool) {
	lost := e.find(e.Rank)
	if lost == nil || lost.Silent <= silence {
		return 0, 0, false
	}
	for _, r := range e.Ranks {
		if r.Rank == e.Rank {
			continue
		}
		for _, ev := range r.calls(e.Epoch) {
			if end := ev.Ago - ev.Took; !ev.Open && end < lost.Silent-silence && (!ok || end < ago) {
				by, ago, ok = r.Rank, end, true
			}
		}
	}
	return by, ago, ok
}

// edge judges the edge between two ranks that cannot exchange bytes.
func (e *Evidence) edge(near, far int) Verdict {
	for _, rank := range []int{far, near} {
		if r := e.find(rank); r != nil && r.Silent > silence {
			return e.silent(rank, silentFor(r))
		}
	}
	if e.Fault == events.FaultCorrupt {
		return Verdict{far, EdgeCorrupt, fmt.Sprintf("bytes between %s and %s were changed on the way: %s", e.name(near), e.name(far), plain.Text(e.Why))}
	}
	return Verdict{far, EdgeBroken, fmt.Sprintf("the network between %s and %s carries nothing, and both answer the server: %s", e.name(near), e.name(far), plain.Text(e.Why))}
}

// notStarted judges a job that has not started in time.
func (e *Evidence) notStarted(why string) Verdict {
	worst, reason := -1, ""
	for _, r := range slices.Sorted(maps.Keys(e.Missing)) {
		if text := e.Missing[r]; worst < 0 || reason == "" && text != "" {
			worst, reason = r, text
		}
	}
	switch {
	case worst < 0:
		for _, r := range e.Ranks {
			if r.State == "joined" {
				return e.say(r.Rank, SlowWork, "was not ready in time: %s", e.doing(r))
			}
		}
		return Verdict{-1, NotJoined, why}
	case reason != "":
		return e.say(worst, NotJoined, "is missing: %s", plain.Text(reason))
	case len(e.Missing) > 1:
		return e.say(worst, NotJoined, "and %d others have never joined: start them, and check their logs for refusals", len(e.Missing)-1)
	}
	return e.say(worst, NotJoined, "has never joined: start it, and check its log for a refusal")
}

// stalled follows the chain of waits from a rank.
func (e *Evidence) stalled(from int) Verdict {
	seen := map[int]bool{}
	at := from
	for {
		seen[at] = true
		r := e.find(at)
		if r == nil {
			return e.say(at, NotJoined, "is missing")
		}
		if r.Silent > silence {
			return e.silent(at, silentFor(r))
		}
		next := r.WaitsFor
		if next < 0 && r.Collective > 0 && e.Peer >= 0 && at == from {
			next = e.Peer
		}
		if r.Collective == 0 && next < 0 {
			return e.atWork(r)
		}
		if next < 0 || seen[next] {
			if next < 0 {
				return e.say(at, Waits, "is in collective %d and waits for no rank", r.Collective)
			}
			return e.edge(at, next)
		}
		at = next
	}
}

// atWork judges a rank for which others wait, and that is in no collective.
func (e *Evidence) atWork(r *Rank) Verdict {
	if r.State == "complete" {
		return e.say(r.Rank, Skipped, "has completed its work while others are in a collective: it made fewer calls than they")
	}
	working := false
	for i := len(r.Events) - 1; i >= 0; i-- {
		ev := r.Events[i]
		working = working || ev.Open && ev.Kind == events.Step
		if ev.Open && ev.Kind == events.Checkpoint && !working {
			return e.say(r.Rank, SlowCheckpoint, "has been writing a checkpoint for %v: its disk is slow", ev.Ago.Round(100*time.Millisecond))
		}
	}
	return e.say(r.Rank, SlowWork, "keeps the others waiting: %s", e.doing(r))
}

// doing describes what a rank that is in no collective does.
func (e *Evidence) doing(r *Rank) string {
	if r.Waits != "" {
		return plain.Text(r.Waits)
	}
	for i := len(r.Events) - 1; i >= 0; i-- {
		ev := r.Events[i]
		switch {
		case ev.Open && ev.Kind == events.Step:
			return fmt.Sprintf("the %s of its step has taken %v so far", plain.Text(ev.Name), ev.Ago.Round(100*time.Millisecond))
		case !ev.Open && ev.Kind == events.Collective:
			return fmt.Sprintf("it has been at work for %v, since %s %d", (ev.Ago - ev.Took).Round(100*time.Millisecond), ev.Verb, ev.Number)
		}
	}
	return "it is at work"
}
