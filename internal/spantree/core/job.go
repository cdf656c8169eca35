// SPDX-License-Identifier: Apache-2.0

package core

import (
	"log/slog"
	"net/netip"
	"slices"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/edges"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/internal/spantree/resume"
	"github.com/gvw-project/gvw/internal/spantree/retry"
)

// job is a job that has had at least one attempt. Fields that have a meaning in one phase only are
// together in a type of their own: fillState, endedEpoch and finishState.
type job struct {
	id      protocol.Job
	created time.Time
	phase   phase
	agreement

	holders  map[int]*attempt   // by rank: the attempts that the server has accepted
	standbys map[int][]*attempt // by rank, in order of arrival
	spares   []*attempt         // in order of arrival
	departed map[int]departure  // end of the newest holder of each rank that has none

	native     int              // holders that speak the native protocol
	ready      int              // those of them that are READY
	readyCount int              // READY frames so far: the order in which attempts became READY
	changes    int              // of holders, ready and departed so far: a report is valid until the next one
	removed    map[int]bool     // ranks without which the job continues: lost ones, and excluded ones
	membership protocol.Members // excluded ranks of an elastic job, once they are known

	epoch    protocol.Epoch // the newest; zero while the job fills
	vwStream bool           // the data connections carry vw's stream
	wiring   epochWiring    // of epoch
	fill     fillState      // while filling
	lastEnd  endedEpoch     // while recovering; also while ending, if a rank was lost
	finish   finishState    // while ending

	losses     losses
	links      links
	evictions  evictions
	handover   handover
	restart    restart
	waitReport waitReport
	refusals   refusalCount
}

// agreement is what all ranks of a job must agree on. The first native attempt sets it.
type agreement struct {
	generation     uint32 // restarts of the whole job
	total          int    // ranks, members or not
	options        string
	digest         [32]byte // SHA-256 of options
	owner          [32]byte // SHA-256 of the claim that cancels the job; zero: every client may
	policy         protocol.OnLoss
	replaceTimeout time.Duration // for the replacement of a lost rank
	slowFactor     float64       // times the median: from there on a rank is handed over; up to 1: never
	startTimeout   time.Duration // from the first join to a start without missing ranks; 0: never
}

// fillState is the state of a job that fills.
type fillState struct {
	firstJoin   time.Time // from which startTimeout counts; zero: no rank has joined
	missingFrom time.Time // since when all ranks that have joined wait for missing ones; zero: they do not
}

// epochWiring is the content of the frames that started an epoch.
type epochWiring struct {
	token    [16]byte                  // authenticates the data connections
	gateway  string                    // the gateway's address as seen by members on other hosts; "": all are on it
	resumeAt resume.Point              // where the epoch began
	start    *protocol.EpochStartFrame // for members that reconnect; nil: the job does not recover
	shards   map[int]protocol.Shard    // data that the members have read, by rank
}

// endedEpoch is the end of the newest epoch.
type endedEpoch struct {
	cause      protocol.Cause
	at         time.Time
	unanswered int // holders that have not answered EPOCH_END
}

// finishState is the state of a job of which a rank is COMPLETE. Its zero value is that of a job
// in any other phase.
type finishState struct {
	completed   int      // holders that are COMPLETE
	model       [32]byte // SHA-256, equal on all of them; valid after deliverSent
	deliverSent bool     // DELIVER was sent to at least one holder
	leaseWaits  bool     // a DELIVER waits for the lease of a lost attempt to expire
	owed        int      // files that COMPLETE holders must still deliver
	owedByLost  map[int][]string
	files       []protocol.DeliveredFile // in order of their delivery
	source      *attempt                 // from which others fetch missing data; nil: not chosen yet
	receipt     uint64                   // of the finished record; 0: not written yet
	sentAt      time.Time                // when the journal got that record
}

// losses is the state of a job's lost ranks.
type losses struct {
	vacant  map[int]vacancy   // lost ranks that must be replaced
	leases  map[int]time.Time // until then a lost attempt of the rank may rename files to their final names
	shrunk  protocol.Epoch    // the first epoch of fewer ranks: COMPLETE of earlier ones does not count
	retries retry.Budget
}

// vacancy is the loss of a rank that must be replaced.
type vacancy struct {
	since time.Time
	cause protocol.Cause
}

// evictions are the attempts that have lost their ranks for good.
type evictions struct {
	attempts map[uint64]string   // by number, with the reason; at most maxEvicted
	hosts    map[rankOnHost]bool // from which an attempt of the rank was evicted
	stranded map[int]string      // by rank: the host of the newest attempt that was cut off from all sources
}

// refusalCount counts attempts that disagreed with the job's other ranks.
type refusalCount struct {
	count  int
	newest string // the reason
}

// departure is the end of an attempt that was a rank's holder.
type departure struct {
	host, why string
	at        time.Time
}

// attempt is a process that claims a rank of a job: a holder, a standby or a spare.
type attempt struct {
	conn   ConnID
	job    *job
	rank   int    // -1: a spare without a rank
	vw     bool   // it speaks vw's protocol
	number uint64 // chosen by the attempt; vw workers have none
	from   Endpoint
	host   string    // name for people
	joined time.Time // when it joined, or got its rank as a spare

	// Of native attempts.
	advertise    string // host of its data listener; "": from.Host
	capabilities uint64 // forwarded to the other ranks without being decoded
	version      string // of its program
	lastFrame    time.Time
	lostAfter    time.Duration // silence after which it is lost
	ready        bool          // it has sent READY
	shard        protocol.Shard
	reported     lastReport
	progress     protocol.Progress
	waitText     string   // the event that it waits for, in words
	complete     bool     // it has sent COMPLETE
	model        [32]byte // SHA-256, in COMPLETE
	owed         []string // files not delivered yet
	deliverSent  bool     // it was sent DELIVER
	epochState
	speed
	waits edges.Waits // of its heartbeats

	// port is that of the data listener. A vw worker sends it later than its registration; hasPort
	// reports that it is known.
	port              uint16
	kidsSent, hasPort bool      // kidsSent: the vw worker was sent its number of children
	kidsAt            time.Time // when that was sent; PortTimeout counts from it
}

// attrs returns the attributes that identify the attempt in log lines.
func (a *attempt) attrs() []slog.Attr {
	rank := slog.Int("rank", a.rank)
	if a.rank < 0 {
		rank = slog.Bool("spare", true)
	}
	return []slog.Attr{slog.String("job", a.job.id.String()), rank, slog.String("host", a.host)}
}

// members returns the holders in ascending order of their ranks.
func (j *job) members() []*attempt {
	all := make([]*attempt, 0, len(j.holders))
	for _, a := range j.holders {
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b *attempt) int { return a.rank - b.rank })
	return all
}

// mixed reports whether the job has vw workers.
func (j *job) mixed() bool { return j.native < len(j.holders) }

// addressOf returns the host at which others reach the data listener of a. A rank on the gateway
// connects to the server over the loopback, whose address is useless on other machines. If a member
// is on another machine, such a rank gets the address by which that member reaches the gateway.
func (j *job) addressOf(a *attempt, outside string) string {
	switch {
	case a.advertise != "":
		return a.advertise
	case outside != "" && isLoopback(a.from.Host):
		return outside
	}
	return a.from.Host
}

// outside returns the address of the gateway as the first member on another machine sees it; "" if
// all are on the gateway.
func outside(members []*attempt) string {
	for _, a := range members {
		if !isLoopback(a.from.Host) {
			return a.from.Local
		}
	}
	return ""
}

// isLoopback reports whether host is a loopback address, of IPv4 or IPv6.
func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// ipv4 returns an address as the four bytes of vw's protocol.
func ipv4(host string) (ip [4]byte, ok bool) {
	addr, err := netip.ParseAddr(host)
	if err != nil || !addr.Unmap().Is4() {
		return ip, false
	}
	return addr.Unmap().As4(), true
}

// hasIPv4 reports whether vw workers can reach this member.
func hasIPv4(advertise, from string) bool {
	host := from
	if advertise != "" {
		host = advertise
	}
	_, ok := ipv4(host)
	return ok
}

// missing returns the ranks that the job waits for and that have no holder, in ascending order.
func (j *job) missing() []int {
	var missing []int
	for r := range j.total {
		if j.holders[r] == nil && !j.removed[r] {
			missing = append(missing, r)
		}
	}
	return missing
}

// notReady returns the native ranks that have joined and are not READY, in ascending order.
func (j *job) notReady() []int {
	var slow []int
	for _, a := range j.members() {
		if !a.vw && !a.ready {
			slow = append(slow, a.rank)
		}
	}
	return slow
}
