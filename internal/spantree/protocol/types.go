// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/gvw-project/gvw/internal/plain"
	"github.com/gvw-project/gvw/internal/wire"
)

// DefaultPort is the TCP port of vw's spanning_tree, and of ours.
const DefaultPort = 26543

// Job identifies a job on a server.
type Job struct {
	// UniqueID is the number by which vw workers identify a job (vw's nonce, --unique_id).
	UniqueID uint64
	// RunKey is the launcher's name of the run, such as a Hadoop job ID or Slurm's job.step. The
	// server remembers a job with a run key after its end, and refuses late attempts of it. "": the
	// job is identified by UniqueID only, which is free again after the end.
	RunKey string
}

func (j Job) String() string {
	if j.RunKey == "" {
		return strconv.FormatUint(j.UniqueID, 10)
	}
	return fmt.Sprintf("%d/%s", j.UniqueID, plain.Text(j.RunKey))
}

// Shard identifies the data that a rank has read. The zero value is unknown data.
type Shard struct {
	Examples, Bytes uint64
	CRC             uint32
	// Took is the time in which the rank has read it; 0: unknown.
	Took time.Duration
}

// Epoch numbers an epoch of a job: the N-th one in the server's term Term. Incarnation is random
// and differs between starts of a server. It is compared for equality only, and distinguishes
// servers without a journal. The zero Epoch is no epoch.
type Epoch struct {
	Term, N     uint32
	Incarnation uint64
}

// NoRank is the encoding of "no rank", which is -1 in Go.
const NoRank = wire.NoRank

// Code codes an epoch in 16 bytes: its term, its number and its incarnation.
func (e *Epoch) Code(c *wire.Coder, name string) {
	if c.Compound(name, "epoch", 16) {
		return
	}
	c.U32(name, &e.Term)
	c.U32(name, &e.N)
	c.U64(name, &e.Incarnation)
}

func (e Epoch) String() string { return fmt.Sprintf("%d.%d", e.Term, e.N) }

// Progress is the content of a REPORT.
type Progress struct {
	Pass     uint32  // completed passes over the data
	Step     string  // name of the current step: "pass 3", "gradient", …
	Number   uint64  // completed steps of all kinds
	Examples uint64  // seen in all passes together
	Loss     float64 // average so far; of a batch solver that of the newest pass
	// StepTook is the time of the newest completed step without its exchange; 0: unknown.
	StepTook time.Duration
	// Holdout is the mean loss of the newest pass over the held-out examples of all ranks, or over
	// the validation set; 0: none.
	Holdout float64
}

// OnLoss is a job's policy on the loss of a rank. Its numbers are part of the protocol.
//
//   - [Abort] ends the job.
//   - [Wait] holds the job until another attempt of the lost rank has joined.
//   - [Shrink] continues the job without the lost rank.
//   - [Grow] does the same, and takes back a rank whose later attempt has joined.
//   - [Open] shrinks, and is wired with the ranks that have joined when all of these are READY. Until then ranks may
//     be lost, return or join late. The job is elastic.
type OnLoss uint8

// The policies on the loss of a rank.
const (
	Abort OnLoss = iota
	Wait
	Shrink
	Grow
	Open
)

// Replaces reports whether attempts of lost ranks join while the others work: with Wait and Grow.
func (p OnLoss) Replaces() bool { return p == Wait || p == Grow }

func (p OnLoss) String() string {
	if p > Open {
		return fmt.Sprintf("on_loss %d", uint8(p))
	}
	return [...]string{"abort", "wait", "shrink", "grow", "open"}[p]
}

// Code is the cause of a refusal. Its numbers are part of the protocol.
type Code uint16

// The causes of a refusal.
const (
	Malformed      Code = 1  // bytes that are no valid frame
	VersionDiffers Code = 2  // another version of the protocol or of the program
	OptionsDiffer  Code = 3  // an option that all ranks must share
	TotalDiffers   Code = 4  // another number of ranks
	RankInvalid    Code = 5  // rank ≥ total, or a total out of bounds
	RankHeld       Code = 6  // another attempt holds the rank
	JobFinished    Code = 7  // the run has finished
	ServerFull     Code = 8  // a limit of the server is reached
	ServerDraining Code = 9  // the server shuts down and accepts no new jobs
	AttemptFenced  Code = 10 // the attempt was considered lost, or is of an older generation
	ShardDiffers   Code = 11 // other data than the replaced attempt had read
	Unauthorised   Code = 12 // no valid secret or certificate, or another owner
	NoIPv4         Code = 13 // the job has vw workers, and the rank no IPv4 address
	ServerFault    Code = 14 // the server cannot do its work, for example write its journal
	Cancelled      Code = 15 // a user has cancelled the job
	NoSuchJob      Code = 16 // no such job to cancel
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

// EdgeFault is the fault of an edge, in ASK. Its numbers are part of the protocol.
type EdgeFault uint8

// The faults of an edge.
const (
	EdgeStalls     EdgeFault = 1 // no bytes arrive
	EdgeBroke      EdgeFault = 2 // the connection has ended
	EdgeCorrupts   EdgeFault = 3 // bytes have changed on the way
	EdgeNoTransfer EdgeFault = 4 // a transfer of missing data makes no progress
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

// Compare orders the epochs of one job by term and number. Incarnations have no order.
func (e Epoch) Compare(f Epoch) int {
	return cmp.Or(cmp.Compare(e.Term, f.Term), cmp.Compare(e.N, f.N))
}

func (s Shard) String() string {
	return fmt.Sprintf("%d examples in %d bytes (CRC %08x)", s.Examples, s.Bytes, s.CRC)
}
