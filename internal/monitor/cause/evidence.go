// SPDX-License-Identifier: Apache-2.0

package cause

import (
	"time"

	"github.com/gvw-project/gvw/internal/monitor/events"
)

// How is how the server has learned of the fault.
type How string

const (
	Stalled How = "stalled" // a rank has reported that it waits; the job runs
	Lost    How = "lost"    // a rank was lost
	GaveUp  How = "gave up" // a rank has reported its error, or left because of it
	Edge    How = "edge"    // the edge between Rank and Peer was charged
	Server  How = "server"  // the server fails the job
)

// Evidence is what is known of a stall or a failure.
type Evidence struct {
	Job   string       `json:"job"`
	Epoch uint64       `json:"epoch"` // number of the epoch; 0: the job has not started
	How   How          `json:"how"`
	Fault events.Fault `json:"fault,omitempty"` // what the server has seen; 0: nothing more than How
	Rank  int          `json:"rank"`            // that was lost, gave up, or reports; -1: none
	Host  string       `json:"host,omitempty"`
	Peer  int          `json:"peer"` // the other end of an Edge, or the awaited rank; -1: none
	Why   string       `json:"why"`  // in words, for people
	Total int          `json:"total"`
	Ranks []*Rank      `json:"ranks"` // by rank; without those that are missing
	// Missing are the ranks that have not joined, with the reason of their departure or refusal; "": unknown.
	Missing map[int]string `json:"missing,omitempty"`
}

// Rank is what is known of a rank.
type Rank struct {
	Rank    int           `json:"rank"`
	Host    string        `json:"host"`
	Address string        `json:"address"` // as the server sees it
	State   string        `json:"state"`   // joined, ready, complete
	Silent  time.Duration `json:"silent"`  // since its last frame
	// KernelAck is the time since the kernel of its host acknowledged something on its connection, measured while the
	// rank is silent and its kernel is probed; 0: unknown. A stopped process leaves its kernel at work.
	KernelAck  time.Duration `json:"kernel_ack,omitempty"`
	WaitsFor   int           `json:"waits_for"`
	Collective uint64        `json:"collective"`
	Waits      string        `json:"waits,omitempty"`
	Answered   bool          `json:"answered"` // it has sent its events
	// Events are its last events, of any epoch, oldest first.
	Events []events.Event `json:"events"`
}

// Kind is the kind of a cause.
type Kind string

const (
	Skipped        Kind = "skipped collective"
	OutOfOrder     Kind = "wrong order"
	OtherLength    Kind = "wrong length"
	OtherCall      Kind = "wrong call"
	ProcessEnded   Kind = "process ended"
	HostSilent     Kind = "stopped answering"
	ProcessStopped Kind = "process stopped"
	CutFromServer  Kind = "cut off from the server"
	NetworkBroken  Kind = "network broken"
	EdgeBroken     Kind = "edge broken"
	EdgeCorrupt    Kind = "bytes changed"
	SlowWork       Kind = "slow work"
	SlowCheckpoint Kind = "slow checkpoint"
	NotAnswering   Kind = "does not answer"
	BadFrames      Kind = "invalid frames"
	NotJoined      Kind = "not joined"
	NotReplaced    Kind = "not replaced"
	TakenAway      Kind = "dropped by the server"
	ModelsDiffer   Kind = "models differ"
	JournalFailed  Kind = "journal"
	FullDisk       Kind = "disk full"
	ReadOnlyDisk   Kind = "read-only disk"
	DiskError      Kind = "disk error"
	HungDisk       Kind = "hung disk"
	MissingFile    Kind = "missing file"
	DeniedFile     Kind = "permission"
	OutOfMemory    Kind = "memory"
	OutOfFiles     Kind = "descriptors"
	BadInput       Kind = "bad data"
	BadSettings    Kind = "bad options"
	WrongSecret    Kind = "credentials"
	ToldToStop     Kind = "told to stop"
	ProgramFault   Kind = "panic"
	NoServer       Kind = "server lost"
	OwnError       Kind = "own error"
	Waits          Kind = "waits"
	Unknown        Kind = "unknown"
)

// Verdict is a cause.
type Verdict struct {
	Rank int    `json:"rank"` // -1: no single rank
	Kind Kind   `json:"kind"`
	Line string `json:"line"`
}

// MaxLine is the largest length of a line, in bytes.
const MaxLine = 400
