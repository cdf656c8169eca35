// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"time"
)

// EndedJob is a job that has ended, in a ServerStatus.
type EndedJob struct {
	UniqueID   uint64    `json:"unique_id"`
	RunKey     string    `json:"run_key,omitempty"`
	Generation uint32    `json:"generation"`
	Outcome    string    `json:"outcome"`         // finished, failed, cancelled, closed, handed over
	Cause      string    `json:"cause,omitempty"` // of any other outcome than finished
	Rank       int       `json:"rank"`            // that was lost or gave up; -1: none
	Host       string    `json:"host,omitempty"`  // of that rank
	Total      int       `json:"total"`
	Seconds    float64   `json:"seconds"` // from its opening; 0: it ended before this server started
	Ended      time.Time `json:"ended"`
	Model      string    `json:"model,omitempty"` // SHA-256, of a job that has finished
}

// ServerStatus is what a server knows about its jobs. As JSON it is the
// answer to STATUS: fields may be added, never renamed.
type ServerStatus struct {
	Version  string      `json:"version"`
	Term     uint32      `json:"term"`
	Draining bool        `json:"draining"`
	Finished int         `json:"finished"`          // runs remembered
	Journal  string      `json:"journal,omitempty"` // why no record reaches it any more; "": they do, or there is none
	Jobs     []JobStatus `json:"jobs"`              // oldest first
	Ended    []EndedJob  `json:"ended,omitempty"`   // the newest 1000 of the last FinishedAge, oldest first
}

// JobStatus is a job in a ServerStatus.
type JobStatus struct {
	UniqueID   uint64       `json:"unique_id"`
	RunKey     string       `json:"run_key,omitempty"`
	Generation uint32       `json:"generation"`
	State      string       `json:"state"` // filling, wired, recovering, ending
	Report     string       `json:"report"`
	Epoch      string       `json:"epoch,omitempty"`
	VW         bool         `json:"vw"` // vw's stream is spoken
	Total      int          `json:"total"`
	Joined     int          `json:"joined"`
	Standbys   int          `json:"standbys,omitempty"` // attempts of ranks that another one holds
	Spares     int          `json:"spares,omitempty"`   // attempts without a rank
	OnLoss     string       `json:"on_loss,omitempty"`  // wait, shrink; "": abort
	Removed    []int        `json:"removed,omitempty"`  // ranks that the job goes on without
	Vacant     []int        `json:"vacant,omitempty"`   // ranks that were lost, and that somebody must replace
	Refused    int          `json:"refused,omitempty"`  // attempts that do not agree with the others
	Refusal    string       `json:"refusal,omitempty"`  // why the last of them was
	Seconds    float64      `json:"seconds"`            // since it was opened
	Options    string       `json:"options,omitempty"`
	Ranks      []RankStatus `json:"ranks,omitempty"` // left out when the answer would be too long
}

// RankStatus is a member of a job in a JobStatus.
type RankStatus struct {
	Rank     int     `json:"rank"` // -1: a spare
	Attempt  uint64  `json:"attempt,omitempty"`
	Host     string  `json:"host"`
	Address  string  `json:"address,omitempty"` // of its data listener
	Version  string  `json:"version,omitempty"`
	VW       bool    `json:"vw,omitempty"`
	State    string  `json:"state"` // joined, ready, complete, standby, spare
	Silent   float64 `json:"silent_seconds"`
	Waits    string  `json:"waits,omitempty"`
	Pass     uint32  `json:"pass"`
	Step     string  `json:"step,omitempty"`
	Steps    uint64  `json:"steps"`
	Examples uint64  `json:"examples"`
	Loss     float64 `json:"loss"`
}
