// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"time"

	"github.com/gvw-project/gvw/internal/monitor/traffic"
)

// EndedJob is a job that has ended.
type EndedJob struct {
	UniqueID   uint64    `json:"unique_id"`
	RunKey     string    `json:"run_key,omitempty"`
	Generation uint32    `json:"generation"`
	Outcome    string    `json:"outcome"`         // finished, failed, cancelled, closed, handed over
	Cause      string    `json:"cause,omitempty"` // unless it has finished
	Rank       int       `json:"rank"`            // that was lost or gave up; -1: none
	Host       string    `json:"host,omitempty"`  // of that rank
	Total      int       `json:"total"`
	Seconds    float64   `json:"seconds"` // since it was opened; 0: it ended before this server started
	Ended      time.Time `json:"ended"`
	Model      string    `json:"model,omitempty"` // SHA-256, of a job that has finished
	// Found is what the events of all ranks show, half a second after the end at most; nil: nothing.
	Found *FoundCause `json:"found,omitempty"`
}

// Same reports whether two records are of one end, whether or not its cause has been found.
func (e EndedJob) Same(f EndedJob) bool {
	e.Found, f.Found = nil, nil
	return e == f
}

// FoundCause is the cause of a stall, a loss or a failure, found in the events of all ranks.
type FoundCause struct {
	Rank int    `json:"rank"` // -1: no single one
	Kind string `json:"kind"` // as in a report of --fault_dir
	Line string `json:"line"` // for people
}

// ServerStatus lists the jobs of a server. Its JSON is the answer to STATUS: fields may be added,
// but never renamed.
type ServerStatus struct {
	Version  string      `json:"version"`
	Term     uint32      `json:"term"`
	Draining bool        `json:"draining"`
	Finished int         `json:"finished"`          // runs that the server remembers
	Journal  string      `json:"journal,omitempty"` // the failure after which the journal accepts no record; "": none
	Jobs     []JobStatus `json:"jobs"`              // oldest first
	Ended    []EndedJob  `json:"ended,omitempty"`   // the newest 1000 within FinishedAge, oldest first
}

// JobStatus is a job of a ServerStatus.
type JobStatus struct {
	UniqueID   uint64      `json:"unique_id"`
	RunKey     string      `json:"run_key,omitempty"`
	Generation uint32      `json:"generation"`
	State      string      `json:"state"` // filling, wired, recovering, ending
	Report     string      `json:"report"`
	Epoch      string      `json:"epoch,omitempty"`
	VW         bool        `json:"vw"` // the data connections carry vw's stream
	Total      int         `json:"total"`
	Joined     int         `json:"joined"`
	Standbys   int         `json:"standbys,omitempty"` // attempts of ranks that other attempts hold
	Spares     int         `json:"spares,omitempty"`   // attempts without a rank
	OnLoss     string      `json:"on_loss,omitempty"`  // wait, shrink, grow, open; "": abort
	Removed    []int       `json:"removed,omitempty"`  // ranks without which the job continues
	Vacant     []int       `json:"vacant,omitempty"`   // lost ranks that must be replaced
	Refused    int         `json:"refused,omitempty"`  // attempts whose options or total differ from the job's
	Refusal    string      `json:"refusal,omitempty"`  // reason of the newest of these refusals
	Seconds    float64     `json:"seconds"`            // since the job was opened
	Options    string      `json:"options,omitempty"`
	LastLoss   *LossStatus `json:"last_loss,omitempty"` // that ended the newest of the epochs that have ended; nil: none has
	// Traffic is the sum of the counts of all attempts, without edges; nil: none has sent counts.
	Traffic *traffic.Counts `json:"traffic,omitempty"`
	// Found is the cause of the newest stall or loss; nil: there was none.
	Found *FoundCause  `json:"found,omitempty"`
	Ranks []RankStatus `json:"ranks,omitempty"` // omitted when the answer would be too long
}

// LossStatus is the reason why an epoch has ended, in a JobStatus.
type LossStatus struct {
	Epoch   string  `json:"epoch"`
	Rank    int     `json:"rank"` // that was lost; -1: no single rank
	Host    string  `json:"host,omitempty"`
	Why     string  `json:"why"`
	Seconds float64 `json:"seconds"` // since then
}

// RankStatus is an attempt of a job in a JobStatus.
type RankStatus struct {
	Rank    int     `json:"rank"` // -1: a spare
	Attempt uint64  `json:"attempt,omitempty"`
	Host    string  `json:"host"`
	Address string  `json:"address,omitempty"` // of its data listener
	Version string  `json:"version,omitempty"`
	VW      bool    `json:"vw,omitempty"`
	State   string  `json:"state"` // joined, ready, complete, standby, spare
	Silent  float64 `json:"silent_seconds"`
	Waits   string  `json:"waits,omitempty"`
	// WaitsFor is the rank that it waits for, by its newest heartbeat; nil: none.
	WaitsFor *int `json:"waits_for,omitempty"`
	// Collective is the number of the collective that it is in; 0: none.
	Collective uint64 `json:"collective,omitempty"`
	// WaitsSeconds is the time since its first heartbeat in that collective.
	WaitsSeconds float64 `json:"waits_seconds,omitempty"`
	Pass         uint32  `json:"pass"`
	Step         string  `json:"step,omitempty"`
	Steps        uint64  `json:"steps"`
	Examples     uint64  `json:"examples"`
	Loss         float64 `json:"loss"`
	// Holdout is the mean loss of the newest pass over the held-out examples of all ranks; 0: none.
	Holdout float64 `json:"holdout,omitempty"`
	// Traffic is the newest counts of the attempt, which nothing changes; nil: it has sent none. Long answers leave it out.
	Traffic *traffic.Counts `json:"traffic,omitempty"`
}
