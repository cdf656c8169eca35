// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/topo"
)

// WelcomeFrame answers the hello.
type WelcomeFrame struct {
	Term        uint32
	Incarnation uint64
	MaxFrame    uint32 // payload bytes that the server accepts
	MaxRanks    uint32
	Version     string // of the program
	Asks        uint8  // for proofs: bit 0: of the secret
	Nonce       [auth.NonceSize]byte
}

// AsksSecret is the bit of Asks for a proof of the secret.
const AsksSecret = 1

func (f *WelcomeFrame) code(c *coder) {
	c.u32("term", &f.Term)
	c.u64("incarnation", &f.Incarnation)
	c.u32("max_frame", &f.MaxFrame)
	c.u32("max_ranks", &f.MaxRanks)
	c.text("version", MaxVersion, &f.Version)
	c.u8("asks", &f.Asks)
	c.raw("nonce", f.Nonce[:])
}

// ProvedFrame answers PROOF: the server has the secret, too. What follows it is sealed
// in both directions, unless the connection is TLS.
type AuthOKFrame struct {
	Proof [auth.ProofSize]byte
}

func (f *AuthOKFrame) code(c *coder) { c.raw("proof", f.Proof[:]) }

// JoinedFrame answers JOIN: the attempt is in.
type JoinedFrame struct {
	Attempt   uint64
	LostAfter time.Duration // of silence, as it holds for this attempt
	Joined    uint32        // ranks, this one included
	Seen      string        // the address that the connection comes from
	Members   Members       // of a job that starts without ranks that have not come
}

func (f *JoinedFrame) code(c *coder) {
	c.u64("attempt", &f.Attempt)
	c.millis("lost_after", &f.LostAfter)
	c.u32("joined", &f.Joined)
	c.text("seen", MaxHost, &f.Seen)
	f.Members.code(c)
}

// RefusedFrame is a no, and the last frame of its connection.
type RefusedFrame struct {
	Code   Code
	Model  [32]byte // of the finished run, with JobFinished
	Reason string
}

func (f *RefusedFrame) code(c *coder) {
	c.u16("code", (*uint16)(&f.Code))
	c.raw("model_sha256", f.Model[:])
	c.text("reason", MaxText, &f.Reason)
}

// WaitingFrame tells a rank of a job that is not wired how far the job is.
type WaitingFrame struct {
	Joined, Ready, Total uint32
	Report               string
}

func (f *WaitingFrame) code(c *coder) {
	c.u32("joined", &f.Joined)
	c.u32("ready", &f.Ready)
	c.u32("total", &f.Total)
	c.text("report", MaxText, &f.Report)
}

// Complete tells that no rank is missing.
func (f *WaitingFrame) Complete() bool { return f.Joined >= f.Total }

// BeatenFrame answers HEARTBEAT.
type HeartbeatAckFrame struct {
	Seq uint64
}

func (f *HeartbeatAckFrame) code(c *coder) { c.u64("seq", &f.Seq) }

// StartFrame wires a native job. All members get the same bytes.
type EpochStartFrame struct {
	Epoch       Epoch
	Token       [16]byte
	ResumeEpoch Epoch // the newest step that anyone completed; zero: begin
	ResumeStep  uint64
	Members     []Member  // by rank
	Missing     []Missing // who cannot resume at once
}

// Member is a rank that takes part in an epoch.
type Member struct {
	Rank         int
	Capabilities uint64
	Port         uint16
	Host         string
	Seen         string // the address that it comes from; "": Host
}

// Missing is the data that a member needs before it can resume, and the member that has it.
type Missing struct {
	Rank, Source int
	Payload      Payload
}

func (f *EpochStartFrame) code(c *coder) {
	c.epoch("epoch", &f.Epoch)
	c.raw("token", f.Token[:])
	c.epoch("resume", &f.ResumeEpoch)
	c.u64("resume_step", &f.ResumeStep)
	list(c, "members", topo.MaxSize, 22, &f.Members, func(c *coder, m *Member) {
		c.rank("rank", &m.Rank)
		c.u64("capabilities", &m.Capabilities)
		c.u16("port", &m.Port)
		c.text("host", MaxHost, &m.Host)
		c.text("seen", MaxSeen, &m.Seen)
	})
	list(c, "missing", topo.MaxSize, 9, &f.Missing, func(c *coder, l *Missing) {
		c.rank("rank", &l.Rank)
		c.rank("source", &l.Source)
		c.u8("payload", (*uint8)(&l.Payload))
	})
}

// RosterFrame says who takes part in a job that starts without ranks that have not come.
type MembersFrame struct {
	Members Members
}

func (f *MembersFrame) code(c *coder) { f.Members.code(c) }

// WireFrame wires a native rank of a job that has vw workers.
type WireFrame struct {
	Epoch      Epoch
	Token      [16]byte
	Kids       uint8
	ParentPort uint16
	ParentHost string // "": this rank is the root
}

func (f *WireFrame) code(c *coder) {
	c.epoch("epoch", &f.Epoch)
	c.raw("token", f.Token[:])
	c.u8("kids", &f.Kids)
	c.u16("parent_port", &f.ParentPort)
	c.text("parent_host", MaxHost, &f.ParentHost)
}

// causeKind says what ended an epoch.
type causeKind uint8

const (
	CauseLost     causeKind = 1 // a rank went without a word, or left
	CauseGaveUp   causeKind = 2 // a rank said why it fails
	CauseRefused  causeKind = 3 // the server fails the job: see Code
	CauseLink     causeKind = 4 // an edge between two live ranks: Rank is the far end
	CauseHandover causeKind = 5 // a slow rank is handed over to a faster attempt
)

// Cause is why an epoch is over.
type Cause struct {
	Kind causeKind
	Code Code // with CauseRefused
	Rank int  // -1: no single rank
	Host string
	Why  string
	// Detail is what a rank that gave up says to the others beside its words.
	Detail string
}

// OverFrame ends an epoch, or a job that has none yet.
type EpochEndFrame struct {
	Epoch Epoch
	Final bool // no other epoch follows: the job has failed
	Cause Cause
}

func (f *EpochEndFrame) code(c *coder) {
	c.epoch("epoch", &f.Epoch)
	c.flag("final", &f.Final)
	c.u8("kind", (*uint8)(&f.Cause.Kind))
	c.u16("code", (*uint16)(&f.Cause.Code))
	c.rank("rank", &f.Cause.Rank)
	c.text("host", MaxHost, &f.Cause.Host)
	c.text("why", MaxText, &f.Cause.Why)
	c.blob("detail", maxDetail, &f.Cause.Detail)
}

// DecidingFrame acknowledges ASK.
type AskAckFrame struct {
	Epoch Epoch
	Peer  int
}

func (f *AskAckFrame) code(c *coder) {
	c.epoch("epoch", &f.Epoch)
	c.rank("peer", &f.Peer)
}

// FencedFrame tells an attempt that it is no member any more.
type FencedFrame struct {
	Epoch  Epoch
	Reason string
}

func (f *FencedFrame) code(c *coder) {
	c.epoch("epoch", &f.Epoch)
	c.text("reason", MaxText, &f.Reason)
}

// StandByFrame tells an attempt that another one holds its rank.
type StandByFrame struct {
	Holder uint64 // the attempt
	Host   string
}

func (f *StandByFrame) code(c *coder) {
	c.u64("holder", &f.Holder)
	c.text("host", MaxHost, &f.Host)
}

// DeliverFrame: all models are equal, this rank delivers these files.
type DeliverFrame struct {
	Epoch Epoch
	Files []string
}

func (f *DeliverFrame) code(c *coder) {
	c.epoch("epoch", &f.Epoch)
	c.texts("files", MaxFiles, maxFile, &f.Files)
}

// ByeFrame: the run is over and remembered. It is the last frame of its
// connection.
type FinishedFrame struct {
	Epoch Epoch
	Model [32]byte // zero: the rank left on its own
}

func (f *FinishedFrame) code(c *coder) {
	c.epoch("epoch", &f.Epoch)
	c.raw("model_sha256", f.Model[:])
}

// JobsFrame answers STATUS, in JSON: the type ServerStatus.
type JobsFrame struct {
	JSON string
}

func (f *JobsFrame) code(c *coder) { c.text("json", MaxPayload-4, &f.JSON) }

// PullFrame tells a rank, in the ending, where to take from what it lacks.
type PullFrame struct {
	Epoch       Epoch
	Token       [16]byte // authenticates the connection to the source
	ResumeEpoch Epoch    // and step, what the source has completed
	ResumeStep  uint64
	Payload     Payload // PayloadResults or PayloadState
	Source      int     // a rank, whose data listener is at
	Port        uint16
	Host        string
}

func (f *PullFrame) code(c *coder) {
	c.epoch("epoch", &f.Epoch)
	c.raw("token", f.Token[:])
	c.epoch("resume", &f.ResumeEpoch)
	c.u64("resume_step", &f.ResumeStep)
	c.u8("payload", (*uint8)(&f.Payload))
	c.rank("source", &f.Source)
	c.u16("port", &f.Port)
	c.text("host", MaxHost, &f.Host)
}

// AssignFrame gives a spare its rank.
type AssignFrame struct {
	Rank int
}

func (f *AssignFrame) code(c *coder) { c.rank("rank", &f.Rank) }
