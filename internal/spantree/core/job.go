// SPDX-License-Identifier: Apache-2.0

package core

import (
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// jobState is where a job is: filling → wired → ending → gone. A job that
// recovers from losses may go from wired to recovering and back any number of
// times. One that has finished or failed is forgotten, but for its record in
// memory.
type jobState int

const (
	filling    jobState = iota // ranks join; while vw workers are wired, too
	wired                      // everybody knows everybody
	recovering                 // the epoch is over, and the next one not wired yet
	ending                     // a rank is COMPLETE
	failed                     // EPOCH_END was sent
)

func (s jobState) String() string {
	return [...]string{"filling", "wired", "recovering", "ending", "failed"}[s]
}

// tellEvery is how often a rank that waits is told anew while nothing has changed but
// the time: reports say since when ranks are missing.
const reportInterval = 5 * time.Second

// The log has a line about a filling job after 10 s, then ever less often.
const (
	firstReport  = 10 * time.Second
	maxReportGap = 10 * time.Minute
)

// job is a job that has at least one member.
type job struct {
	id         protocol.Job
	generation uint32
	total      int
	state      jobState
	epoch      protocol.Epoch
	created    time.Time

	holders  map[int]*attempt  // by rank
	departed map[int]departure // ranks that left while the job was filling
	changes  int               // counts changes of seats, ready and gone

	native, ready int // members that speak the native protocol, and those of them that are ready
	options       string
	digest        [32]byte  // of options
	owner         [32]byte  // SHA-256 of the claim by which it may be cancelled; zero: nobody's
	vwStream      bool      // wired, and vw's stream is spoken
	deliverSent   bool      // DELIVER was sent
	completed     int       // members that are COMPLETE
	owed          int       // files that members still owe
	model         [32]byte  // then: the digest all agree on
	finishReceipt uint64    // of its finished record, 0: not written yet
	finishSentAt  time.Time // when the journal was given that record
	files         []protocol.DeliveredFile
	nextReport    time.Time
	reportGap     time.Duration
	reportText    string // the newest report, made when changed was sentenceOf
	reportChange  int
	reportAt      time.Time

	recovery
	restart
	links
	handover
	elastic
	refused     int        // attempts that do not agree with the others
	refusal     string     // why the last of them was
	spares      []*attempt // without a rank, in order of arrival
	missingFrom time.Time  // since when all that have joined wait for ranks that have not; zero: they do not
}

// telling is what an attempt was told last of a job that is not wired, by WAITING.
type lastReport struct {
	change int // the job's changed then
	report string
	at     time.Time
}

// farewell is why an attempt of a rank is gone.
type departure struct {
	host, why string
	at        time.Time
}

// attempt is a member of a job: one process that claims one rank.
type attempt struct {
	conn   ConnID
	job    *job
	rank   int // -1: a spare
	vw     bool
	number uint64
	from   Endpoint
	host   string // for people
	joined time.Time

	// Native members.
	advertise    string // host, "": where it comes from
	capabilities uint64
	version      string
	lastFrame    time.Time
	lostAfter    time.Duration
	ready        bool
	shard        protocol.Shard
	reported     lastReport
	progress     protocol.Progress
	waitText     string
	complete     bool
	model        [32]byte
	owed         []string // not delivered yet
	deliverSent  bool     // DELIVER was sent to it
	epochState
	speed
	waiting waiting

	// port of the data listener: from JOIN, or of a vw worker once hasPort.
	port              uint16
	kidsSent, hasPort bool
	kidsAt            time.Time
}

func (a *attempt) attrs() []slog.Attr {
	rank := slog.Int("rank", a.rank)
	if a.rank < 0 {
		rank = slog.Bool("spare", true)
	}
	return []slog.Attr{slog.String("job", a.job.id.String()), rank, slog.String("host", a.host)}
}

// members are the attempts of a job by rank.
func (j *job) members() []*attempt {
	all := make([]*attempt, 0, len(j.holders))
	for _, a := range j.holders {
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b *attempt) int { return a.rank - b.rank })
	return all
}

// mixed tells that the job speaks vw's stream.
func (j *job) mixed() bool { return j.native < len(j.holders) }

// addressOf is where others reach the data listener of a.
//
// A rank on the gateway itself connects from the loopback, which leads others
// to themselves. So where any member comes from elsewhere, such a rank is
// given the address by which that member found the gateway.
func (j *job) addressOf(a *attempt, outside string) string {
	switch {
	case a.advertise != "":
		return a.advertise
	case outside != "" && isLoopback(a.from.Host):
		return outside
	}
	return a.from.Host
}

// outside is the gateway's address as the first member from elsewhere sees
// it, "" if all are on the gateway.
func outside(members []*attempt) string {
	for _, a := range members {
		if !isLoopback(a.from.Host) {
			return a.from.Local
		}
	}
	return ""
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// ipv4 is the address in the four bytes that vw sends.
func ipv4(host string) (ip [4]byte, ok bool) {
	addr, err := netip.ParseAddr(host)
	if err != nil || !addr.Unmap().Is4() {
		return ip, false
	}
	return addr.Unmap().As4(), true
}

// hasIPv4 tells that a vw worker could be sent to this member.
func hasIPv4(advertise, from string) bool {
	host := from
	if advertise != "" {
		host = advertise
	}
	_, ok := ipv4(host)
	return ok
}

// report says how far a filling job is, in one sentence.
func (j *job) report(now time.Time) string {
	// Every member asks for it once a second, and a big job changes with each
	// that joins: one sentence serves them all for a while.
	same := j.reportChange == j.changes || j.total > bigJob
	if j.reportText != "" && same && now.Sub(j.reportAt) < time.Second {
		return j.reportText
	}
	var b strings.Builder
	if j.state == recovering {
		j.recoveryReport(&b, now)
	} else if n, total := len(j.holders), j.total-len(j.removed); n < total {
		fmt.Fprintf(&b, "%d of %d ranks have joined, missing %s", n, total, protocol.Ranks(j.missing()))
		j.departures(&b, now)
	} else if slow := j.notReady(); len(slow) > 0 {
		fmt.Fprintf(&b, "all %d ranks have joined, %s still at work on what precedes the first collective", total, protocol.Ranks(slow))
	} else {
		fmt.Fprintf(&b, "all %d ranks have joined and are being wired", total)
	}
	if j.state == filling {
		b.WriteString(j.elasticReport(now))
	}
	j.reportText, j.reportChange, j.reportAt = protocol.Clip(b.String(), protocol.MaxText), j.changes, now
	return j.reportText
}

// bigJob is how many ranks a job may have whose every change is told at once.
const bigJob = 64

// maxNamed is how many ranks a sentence names.
const maxNamed = 8

// farewells adds what is known of missing ranks.
func (j *job) departures(b *strings.Builder, now time.Time) {
	named := 0
	for _, r := range j.missing() {
		f, ok := j.departed[r]
		if !ok {
			continue
		}
		if named++; named > maxNamed {
			b.WriteString("; …")
			return
		}
		fmt.Fprintf(b, "; rank %d (%s) was here %v ago: %s", r, f.host, now.Sub(f.at).Round(time.Second), f.why)
	}
}

func (j *job) missing() []int {
	var missing []int
	for r := range j.total {
		if j.holders[r] == nil && !j.removed[r] {
			missing = append(missing, r)
		}
	}
	return missing
}

func (j *job) notReady() []int {
	var slow []int
	for _, a := range j.members() {
		if !a.vw && !a.ready {
			slow = append(slow, a.rank)
		}
	}
	return slow
}

// describe says the state in a few words.
func (j *job) describe(now time.Time) string {
	switch j.state {
	case filling, recovering:
		return j.report(now)
	case wired:
		return fmt.Sprintf("wired, epoch %v", j.epoch)
	case ending:
		if j.finishReceipt != 0 {
			return fmt.Sprintf("ending: every file is delivered, waiting for the server's journal for %v", now.Sub(j.finishSentAt).Round(time.Second))
		}
	}
	return j.state.String()
}
