// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"fmt"
	"math"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/topo"
	"github.com/gvw-project/gvw/internal/monitor/events"
	"github.com/gvw-project/gvw/internal/wire"
)

// WelcomeFrame (WELCOME) answers the hello.
type WelcomeFrame struct {
	Term        uint32
	Incarnation uint64
	MaxFrame    uint32 // largest payload that the server accepts, in bytes
	MaxRanks    uint32
	Version     string // of the program
	Asks        uint8  // bit 0: the server requests a proof of the secret
	Nonce       [auth.NonceSize]byte
}

// AsksSecret is the bit of Asks that requests a proof of the secret.
const AsksSecret = 1

func (f *WelcomeFrame) code(c *wire.Coder) {
	c.U32("term", &f.Term)
	c.U64("incarnation", &f.Incarnation)
	c.U32("max_frame", &f.MaxFrame)
	c.U32("max_ranks", &f.MaxRanks)
	c.Text("version", MaxVersion, &f.Version)
	c.U8("asks", &f.Asks)
	c.Raw("nonce", f.Nonce[:])
}

// AuthOKFrame (AUTH_OK) answers PROOF with the server's own proof. All later bytes are sealed in
// both directions, unless the connection uses TLS.
type AuthOKFrame struct {
	Proof [auth.ProofSize]byte
}

func (f *AuthOKFrame) code(c *wire.Coder) { c.Raw("proof", f.Proof[:]) }

// JoinedFrame (JOINED) answers JOIN: the attempt is accepted.
type JoinedFrame struct {
	Attempt   uint64
	LostAfter time.Duration // effective value, in multiples of 1 ms
	Joined    uint32        // number of ranks that have joined, including this one
	Seen      string        // source address of the connection
	Members   Members       // of an elastic job, once they are known
}

func (f *JoinedFrame) code(c *wire.Coder) {
	c.U64("attempt", &f.Attempt)
	c.Millis("lost_after", &f.LostAfter)
	c.U32("joined", &f.Joined)
	c.Text("seen", MaxHost, &f.Seen)
	f.Members.code(c)
}

// RefusedFrame (REFUSED) is a refusal, and the last frame of its connection.
type RefusedFrame struct {
	Code   Code
	Model  [32]byte // SHA-256 of the finished run's model, with JobFinished
	Reason string
}

func (f *RefusedFrame) code(c *wire.Coder) {
	c.U16("code", (*uint16)(&f.Code))
	c.Raw("model_sha256", f.Model[:])
	c.Text("reason", MaxText, &f.Reason)
}

// WaitingFrame (WAITING) is the progress of a job that fills or recovers.
type WaitingFrame struct {
	Joined, Ready, Total uint32
	Report               string
}

func (f *WaitingFrame) code(c *wire.Coder) {
	c.U32("joined", &f.Joined)
	c.U32("ready", &f.Ready)
	c.U32("total", &f.Total)
	c.Text("report", MaxText, &f.Report)
}

// Complete reports whether no rank is missing.
func (f *WaitingFrame) Complete() bool { return f.Joined >= f.Total }

// HeartbeatAckFrame (HEARTBEAT_ACK) answers HEARTBEAT. It extends the rank's lease.
type HeartbeatAckFrame struct {
	Seq uint64
}

func (f *HeartbeatAckFrame) code(c *wire.Coder) { c.U64("seq", &f.Seq) }

// EpochStartFrame (EPOCH_START) starts an epoch. All members get the same bytes.
type EpochStartFrame struct {
	Epoch       Epoch
	Token       [16]byte
	ResumeEpoch Epoch // epoch of the newest step that any rank has completed; zero: the beginning, or a checkpoint
	ResumeStep  uint64
	Members     MemberList
	Missing     []Missing // of the members that cannot resume at once
}

// Missing is the data that a member needs before it can resume, and the member that has it.
type Missing struct {
	Rank, Source int
	Payload      Payload
}

func (f *EpochStartFrame) code(c *wire.Coder) {
	f.Epoch.Code(c, "epoch")
	c.Raw("token", f.Token[:])
	f.ResumeEpoch.Code(c, "resume")
	c.U64("resume_step", &f.ResumeStep)
	f.Members.code(c, "members")
	wire.List(c, "missing", topo.MaxSize, 9, &f.Missing, func(c *wire.Coder, l *Missing) {
		c.Rank("rank", &l.Rank)
		c.Rank("source", &l.Source)
		c.U8("payload", (*uint8)(&l.Payload))
	})
}

// MembersFrame (MEMBERS) names the members of an elastic job.
type MembersFrame struct {
	Members Members
}

func (f *MembersFrame) code(c *wire.Coder) { f.Members.code(c) }

// WireFrame (WIRE) wires a native rank of a job that has vw workers.
type WireFrame struct {
	Epoch      Epoch
	Token      [16]byte
	Kids       uint8
	ParentPort uint16
	ParentHost string // "": this rank is the root
}

func (f *WireFrame) code(c *wire.Coder) {
	f.Epoch.Code(c, "epoch")
	c.Raw("token", f.Token[:])
	c.U8("kids", &f.Kids)
	c.U16("parent_port", &f.ParentPort)
	c.Text("parent_host", MaxHost, &f.ParentHost)
}

// causeKind is the kind of event that has ended an epoch.
type causeKind uint8

const (
	CauseLost     causeKind = 1 // a rank was lost, or left
	CauseGaveUp   causeKind = 2 // a rank gave up, with a reason
	CauseRefused  causeKind = 3 // the server fails the job; see Code
	CauseLink     causeKind = 4 // a faulty edge between two live ranks; Rank is its far end
	CauseHandover causeKind = 5 // a slow rank is handed over to a faster attempt
)

// Cause is the reason why an epoch has ended. It is the same on all ranks.
type Cause struct {
	Kind  causeKind
	Code  Code         // with CauseRefused
	Fault events.Fault // what the server has seen; sent with CauseLost and CauseLink
	Rank  int          // -1: no single rank
	Host  string
	Why   string
	// Detail is what a rank that gave up has sent for programs, "": nothing.
	Detail string
}

// EpochEndFrame (EPOCH_END) ends an epoch, or a job that had none.
type EpochEndFrame struct {
	Epoch Epoch
	Final bool // the job has failed: no other epoch follows
	Cause Cause
}

func (f *EpochEndFrame) code(c *wire.Coder) {
	f.Epoch.Code(c, "epoch")
	c.Flag("final", &f.Final)
	c.U8("kind", (*uint8)(&f.Cause.Kind))
	f.Cause.codeDetail(c)
	c.Rank("rank", &f.Cause.Rank)
	c.Text("host", MaxHost, &f.Cause.Host)
	c.Text("why", MaxText, &f.Cause.Why)
	c.Blob("detail", maxDetail, &f.Cause.Detail)
}

// codeDetail codes the field that has the code of a refusal or, in other causes, the fault. Ranks without
// Fault ignore the field in those, and servers without it send 0 there.
func (w *Cause) codeDetail(c *wire.Coder) {
	detail := uint16(w.Code)
	if w.Kind != CauseRefused {
		detail = uint16(w.Fault)
	}
	if c.U16("code", &detail); !c.Decoding() {
		return
	}
	switch {
	case w.Kind == CauseRefused:
		w.Code = Code(detail)
	case detail <= math.MaxUint8:
		w.Fault = events.Fault(detail)
	default:
		c.Fail("code", fmt.Errorf("%d is no fault", detail))
	}
}

// AskAckFrame (ASK_ACK) acknowledges ASK: a decision follows.
type AskAckFrame struct {
	Epoch Epoch
	Peer  int
}

func (f *AskAckFrame) code(c *wire.Coder) {
	f.Epoch.Code(c, "epoch")
	c.Rank("peer", &f.Peer)
}

// FencedFrame (FENCED) reports to an attempt that it is no longer a member.
type FencedFrame struct {
	Epoch  Epoch
	Reason string
}

func (f *FencedFrame) code(c *wire.Coder) {
	f.Epoch.Code(c, "epoch")
	c.Text("reason", MaxText, &f.Reason)
}

// StandByFrame (STANDBY) reports to an attempt that another one holds its rank.
type StandByFrame struct {
	Holder uint64 // number of the attempt; 0: the rank needs no holder any more
	Host   string
}

func (f *StandByFrame) code(c *wire.Coder) {
	c.U64("holder", &f.Holder)
	c.Text("host", MaxHost, &f.Host)
}

// DeliverFrame (DELIVER) reports that all models are equal, and names the files that this rank must
// deliver.
type DeliverFrame struct {
	Epoch Epoch
	Files []string
}

func (f *DeliverFrame) code(c *wire.Coder) {
	f.Epoch.Code(c, "epoch")
	c.Texts("files", MaxFiles, maxFile, &f.Files)
}

// FinishedFrame (FINISHED) reports that the run is over and recorded. It is the last frame of its
// connection.
type FinishedFrame struct {
	Epoch Epoch
	Model [32]byte // SHA-256 of the run's model; zero: the answer to LEAVE or CANCEL
}

func (f *FinishedFrame) code(c *wire.Coder) {
	f.Epoch.Code(c, "epoch")
	c.Raw("model_sha256", f.Model[:])
}

// JobsFrame (JOBS) answers STATUS with a ServerStatus in JSON.
type JobsFrame struct {
	JSON string
}

func (f *JobsFrame) code(c *wire.Coder) { c.Text("json", MaxPayload-4, &f.JSON) }

// PullFrame (PULL) names, while the job ends, the source of a rank's missing data.
type PullFrame struct {
	Epoch       Epoch
	Token       [16]byte // authenticates the connection to the source
	ResumeEpoch Epoch    // epoch of the last step, as the source has completed it
	ResumeStep  uint64
	Payload     Payload // PayloadResults or PayloadState
	Source      int     // rank that has the data
	Port        uint16
	Host        string
}

func (f *PullFrame) code(c *wire.Coder) {
	f.Epoch.Code(c, "epoch")
	c.Raw("token", f.Token[:])
	f.ResumeEpoch.Code(c, "resume")
	c.U64("resume_step", &f.ResumeStep)
	c.U8("payload", (*uint8)(&f.Payload))
	c.Rank("source", &f.Source)
	c.U16("port", &f.Port)
	c.Text("host", MaxHost, &f.Host)
}

// AssignFrame (ASSIGN) gives a spare its rank.
type AssignFrame struct {
	Rank int
}

func (f *AssignFrame) code(c *wire.Coder) { c.Rank("rank", &f.Rank) }
