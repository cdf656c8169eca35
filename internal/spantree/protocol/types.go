// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/gvw-project/gvw/internal/plain"
)

// DefaultPort is where vw's spanning_tree listens, and ours.
const DefaultPort = 26543

// Job names a job at a server.
type Job struct {
	// UniqueID is vw's nonce. vw workers know a job by it alone.
	UniqueID uint64
	// RunKey is what a launcher calls this run: a Hadoop job id, a Slurm
	// job.step. A job with a run key is remembered after its end, so that a
	// late retry of a rank is told that there is nothing left to do. "": the
	// job is known by UniqueID alone, which is free again after its end.
	RunKey string
}

func (j Job) String() string {
	if j.RunKey == "" {
		return strconv.FormatUint(j.UniqueID, 10)
	}
	return fmt.Sprintf("%d/%s", j.UniqueID, plain.Text(j.RunKey))
}

// Shard identifies the data that a rank has read. The zero value says nothing.
type Shard struct {
	Examples, Bytes uint64
	CRC             uint32
	// Took is how long the rank needed to read it, 0 if that is not known.
	Took time.Duration
}

// Epoch numbers a wiring of a job: the N-th one that the server in its
// Term-th life has made. Incarnation is drawn when a server starts and is
// only compared for equality: it tells two servers without a journal apart.
// The zero Epoch is no epoch.
type Epoch struct {
	Term, N     uint32
	Incarnation uint64
}

func (e Epoch) String() string { return fmt.Sprintf("%d.%d", e.Term, e.N) }

// Progress is what a rank tells about itself while it works.
type Progress struct {
	Pass     uint32  // passes over the data that are behind it
	Step     string  // what it does: "pass 3", "gradient", …
	Number   uint64  // steps completed, all kinds together
	Examples uint64  // examples seen, all passes together
	Loss     float64 // average so far
	// StepTook is how long the newest completed step took, of which the
	// exchange with other ranks is no part. 0: not known.
	StepTook time.Duration
}

// OnLoss is a job's policy on the loss of a rank. Its numbers are part of the protocol.
//
//   - [Abort] ends the job.
//   - [Wait] holds the job until another attempt of the lost rank has joined.
//   - [Shrink] continues the job without the lost rank.
type OnLoss uint8

// The policies on the loss of a rank.
const (
	Abort OnLoss = iota
	Wait
	Shrink
)

func (p OnLoss) String() string {
	if p > Shrink {
		return fmt.Sprintf("on_loss %d", uint8(p))
	}
	return [...]string{"abort", "wait", "shrink"}[p]
}

// Code says why a server refuses. Its numbers are part of the protocol.
type Code uint16

// The reasons for a refusal.
const (
	Malformed      Code = 1  // a frame that the protocol does not know
	VersionDiffers Code = 2  // another version of protocol or program
	OptionsDiffer  Code = 3  // an option that all ranks must share
	TotalDiffers   Code = 4  // another number of ranks
	RankInvalid    Code = 5  // rank ≥ total, or a total out of bounds
	RankHeld       Code = 6  // another attempt of this rank is in the job
	JobFinished    Code = 7  // the run is over and its model delivered
	ServerFull     Code = 8  // a bound of the server is reached
	ServerDraining Code = 9  // the server is going down and takes no new jobs
	AttemptFenced  Code = 10 // the attempt was counted as lost, or a newer generation runs
	ShardDiffers   Code = 11 // other data than the attempt it replaces had
	Unauthorised   Code = 12 // wrong secret or certificate
	NoIPv4         Code = 13 // vw workers are in the job and this rank has no IPv4 address
	ServerFault    Code = 14 // the server cannot do its work, say write its journal
	Cancelled      Code = 15 // a person has ended the job
	NoSuchJob      Code = 16 // there is nothing to cancel
)

var codeNames = map[Code]string{
	Malformed: "malformed", VersionDiffers: "version differs", OptionsDiffer: "options differ",
	TotalDiffers: "total differs", RankInvalid: "rank invalid", RankHeld: "rank held",
	JobFinished: "job finished", ServerFull: "server full", ServerDraining: "server draining",
	AttemptFenced: "attempt fenced", ShardDiffers: "shard differs", Unauthorised: "unauthorised",
	NoIPv4: "no IPv4 address", ServerFault: "server fault", Cancelled: "cancelled", NoSuchJob: "no such job",
}

func (c Code) String() string {
	if s, ok := codeNames[c]; ok {
		return s
	}
	return fmt.Sprintf("code %d", uint16(c))
}

// EdgeFault is what is wrong with an edge. Its numbers are part of the protocol.
type EdgeFault uint8

// The faults of an edge.
const (
	EdgeStalls     EdgeFault = 1 // no byte moves
	EdgeBroke      EdgeFault = 2 // it has ended
	EdgeCorrupts   EdgeFault = 3 // bytes have changed on the way
	EdgeNoTransfer EdgeFault = 4 // a transfer of what this rank lacks makes no progress
)

// Payload is the kind of data that a rank is missing. Its numbers are part of the protocol.
type Payload uint8

// The kinds of missing data.
const (
	PayloadResults    Payload = 1 // the results of the resume step; the rank has the state before it
	PayloadState      Payload = 2 // the state at the resume point, for a new rank or one further behind
	PayloadCheckpoint Payload = 3 // the rank's own checkpoint: it is its own source
)

func (p Payload) String() string {
	switch p {
	case PayloadResults:
		return "results"
	case PayloadState:
		return "state"
	case PayloadCheckpoint:
		return "checkpoint"
	}
	return fmt.Sprintf("payload %d", uint8(p))
}

// Compare orders epochs of one job. Incarnations have no order.
func (e Epoch) Compare(f Epoch) int {
	return cmp.Or(cmp.Compare(e.Term, f.Term), cmp.Compare(e.N, f.N))
}

func (s Shard) String() string {
	return fmt.Sprintf("%d examples in %d bytes (CRC %08x)", s.Examples, s.Bytes, s.CRC)
}
