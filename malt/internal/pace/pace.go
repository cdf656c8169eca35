// SPDX-License-Identifier: Apache-2.0

package pace

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/malt/graph"
)

// Mode is a synchrony.
type Mode uint8

const (
	ASP Mode = iota // no rank waits
	BSP
	SSP
	NotifyAck
)

var modeNames = [...]string{ASP: "asp", BSP: "bsp", SSP: "ssp", NotifyAck: "notify_ack"}

// String returns the mode's name.
func (m Mode) String() string {
	if int(m) < len(modeNames) {
		return modeNames[m]
	}
	return fmt.Sprintf("Mode(%d)", uint8(m))
}

// ParseMode returns the mode with a name: asp, bsp, notify_ack, or ssp:S with the bound S ≥ 0.
func ParseMode(s string) (m Mode, bound int, err error) {
	if rest, ok := strings.CutPrefix(s, "ssp:"); ok {
		if bound, err = strconv.Atoi(rest); err != nil || bound < 0 {
			return 0, 0, fmt.Errorf("got bound %q in %q, want a number of rounds, as in ssp:4", rest, s)
		}
		return SSP, bound, nil
	}
	for m, name := range modeNames {
		if name == s && Mode(m) != SSP {
			return Mode(m), 0, nil
		}
	}
	return 0, 0, fmt.Errorf("got synchrony %q, want asp, bsp, ssp:S or notify_ack", s)
}

// Config configures a machine.
type Config struct {
	Graph *graph.Graph // the graph of all ranks
	Rank  int          // this rank, 0 … Graph.Size()-1
	Mode  Mode
	Bound int // rounds by which a merged update may be older than the rank's own round; SSP only
	Start int // the rank's first round: 0, or the number of rounds that it has sent in earlier memberships
}

// Validate reports all faults.
func (c Config) Validate() error {
	var faults []error
	if c.Graph == nil || c.Graph.Size() == 0 {
		faults = append(faults, errors.New("pace: no graph"))
	} else if c.Rank < 0 || c.Rank >= c.Graph.Size() {
		faults = append(faults, fmt.Errorf("pace: rank %d: want 0 to %d", c.Rank, c.Graph.Size()-1))
	}
	if int(c.Mode) >= len(modeNames) {
		faults = append(faults, fmt.Errorf("pace: %v: no such mode", c.Mode))
	}
	if c.Bound < 0 || c.Bound > 0 && c.Mode != SSP {
		faults = append(faults, fmt.Errorf("pace: bound %d with mode %v: only ssp has one, of 0 rounds or more", c.Bound, c.Mode))
	}
	if c.Start < 0 {
		faults = append(faults, fmt.Errorf("pace: start %d: want 0 or more", c.Start))
	}
	return errors.Join(faults...)
}

// Pace is the state machine of one rank. It is not safe for concurrent use.
type Pace struct {
	config  Config
	round   int
	sent    bool  // the update of this round has been sent
	arrived []int // by sender: its newest round that has arrived, or that it has sent in an earlier membership; -1: none
	acked   []int // by receiver: the newest round that it acknowledged
	owed    []int // by receiver: the newest round that it was sent
	lost    []bool
	left    []bool
	waits   []int // result of BeforeSend and BeforeMerge
	ready   []int // result of Send and Merge
}

// New returns the machine of a rank. A configuration that does not validate is an error.
func New(c Config) (*Pace, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	n := c.Graph.Size()
	p := &Pace{config: c, round: c.Start, arrived: make([]int, n), acked: make([]int, n), owed: make([]int, n), lost: make([]bool, n), left: make([]bool, n)}
	for i := range n {
		p.arrived[i], p.acked[i], p.owed[i] = -1, -1, -1
	}
	p.waits, p.ready = make([]int, 0, n), make([]int, 0, n)
	return p, nil
}

// Round returns the number of the rank's current round.
func (p *Pace) Round() int { return p.round }

// Behind returns by how many rounds the newest update of the slowest sender is older than the last round of this rank; 0: none
// is older. Ranks that are lost or have left do not count.
func (p *Pace) Behind() (most int) {
	for _, from := range p.config.Graph.Senders(p.config.Rank) {
		if !p.gone(from) {
			most = max(most, p.round-1-p.arrived[from])
		}
	}
	return most
}

// BeforeSend returns the ranks whose acknowledgement the next Send has to wait for. The
// slice is valid until the next call.
func (p *Pace) BeforeSend() []int {
	p.waits = p.waits[:0]
	if p.config.Mode == NotifyAck {
		for to, round := range p.owed {
			if p.acked[to] < round && !p.gone(to) {
				p.waits = append(p.waits, to)
			}
		}
	}
	return p.waits
}

// Send notes that the round's update is sent, and returns its receivers. The slice is
// valid until the next call. Send panics if BeforeSend returns ranks, or in a round that has sent.
func (p *Pace) Send() []int {
	if p.sent || len(p.BeforeSend()) > 0 {
		panic(fmt.Sprintf("BUG: pace: Send in round %d, which has sent or waits for ranks %v", p.round, p.waits))
	}
	p.sent = true
	p.ready = p.ready[:0]
	for _, to := range p.config.Graph.Out(p.round, p.config.Rank) {
		if !p.gone(to) {
			p.owed[to] = p.round
			p.ready = append(p.ready, to)
		}
	}
	return p.ready
}

// BeforeMerge returns the ranks whose updates the next Merge has to wait for. The slice
// is valid until the next call.
func (p *Pace) BeforeMerge() []int {
	p.waits = p.waits[:0]
	switch p.config.Mode {
	case ASP:
	case SSP:
		for from := range p.arrived {
			if !p.gone(from) && p.arrived[from] < p.due(from, p.round-p.config.Bound) {
				p.waits = append(p.waits, from)
			}
		}
	case BSP, NotifyAck:
		for _, e := range p.config.Graph.In(p.round, p.config.Rank) {
			if !p.gone(e.From) && p.arrived[e.From] < p.round {
				p.waits = append(p.waits, e.From)
			}
		}
	}
	return p.waits
}

// due returns the newest round up to a limit in which the graph has an edge from a sender to
// this rank, or -1 if there is none. A graph that changes does not have the edge in each round.
func (p *Pace) due(from, limit int) int {
	for round := limit; round >= 0 && round > limit-p.config.Graph.Period(); round-- {
		for _, e := range p.config.Graph.In(round, p.config.Rank) {
			if e.From == from {
				return round
			}
		}
	}
	return -1
}

// Accepts reports whether an update that a sender made in a round is merged now.
func (p *Pace) Accepts(from, round int) bool {
	switch {
	case p.lost[from]:
		return false
	case p.config.Mode == ASP:
		return true
	case p.config.Mode == SSP:
		return round >= p.round-p.config.Bound
	}
	return round <= p.round // an older one is of a sender that was behind when the membership began
}

// Merge notes that the round's updates are merged and begins the next round. It returns the
// senders to which the caller acknowledges the round; only NotifyAck has any. The slice is valid
// until the next call. Merge panics before Send, or if BeforeMerge returns ranks.
func (p *Pace) Merge() []int {
	if !p.sent || len(p.BeforeMerge()) > 0 {
		panic(fmt.Sprintf("BUG: pace: Merge in round %d, which has not sent or waits for ranks %v", p.round, p.waits))
	}
	p.ready = p.ready[:0]
	if p.config.Mode == NotifyAck {
		for _, e := range p.config.Graph.In(p.round, p.config.Rank) {
			if !p.gone(e.From) {
				p.ready = append(p.ready, e.From)
			}
		}
	}
	p.round++
	p.sent = false
	return p.ready
}

// Arrived reports an update: its sender has completed the computation of a round. Rounds
// older than one that has arrived change nothing. The result is whether the caller acknowledges the round at once:
// this rank is in a later one, and may be waiting there for the sender.
func (p *Pace) Arrived(from, round int) (acknowledge bool) {
	p.arrived[from] = max(p.arrived[from], round)
	return p.config.Mode == NotifyAck && round < p.round
}

// Began reports that a sender begins this membership in a round: its earlier updates were sent in other memberships,
// and do not arrive.
func (p *Pace) Began(from, round int) { p.arrived[from] = max(p.arrived[from], round-1) }

// Acked reports an acknowledgement: a receiver has merged the update of a round.
func (p *Pace) Acked(by, round int) { p.acked[by] = max(p.acked[by], round) }

// Lost reports the loss of a rank. The machine no longer waits for it or sends to it, and
// its updates are not accepted. Graphs without it begin with a new machine.
func (p *Pace) Lost(rank int) { p.lost[rank] = true }

// Left reports that a rank has sent its last update, and merges no more. It is as Lost, except
// that updates of the rank are accepted.
func (p *Pace) Left(rank int) { p.left[rank] = true }

func (p *Pace) gone(rank int) bool { return p.lost[rank] || p.left[rank] }

// Rank returns the rank of the machine.
func (p *Pace) Rank() int { return p.config.Rank }

// Sent reports whether the update of the current round has been sent.
func (p *Pace) Sent() bool { return p.sent }
