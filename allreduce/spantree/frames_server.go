// SPDX-License-Identifier: Apache-2.0

package spantree

import (
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/topo"
)

// welcomeFrame answers the hello.
type welcomeFrame struct {
	Term        uint32
	Incarnation uint64
	MaxFrame    uint32 // payload bytes that the server accepts
	MaxRanks    uint32
	Version     string // of the program
	Asks        uint8  // for proofs: bit 0: of the secret
	Nonce       [auth.NonceSize]byte
}

// asksSecret is the bit of Asks for a proof of the secret.
const asksSecret = 1

func (f *welcomeFrame) code(c *coder) {
	c.u32("term", &f.Term)
	c.u64("incarnation", &f.Incarnation)
	c.u32("max_frame", &f.MaxFrame)
	c.u32("max_ranks", &f.MaxRanks)
	c.text("version", maxVersion, &f.Version)
	c.u8("asks", &f.Asks)
	c.raw("nonce", f.Nonce[:])
}

// provedFrame answers PROOF: the server has the secret, too. What follows it is sealed
// in both directions, unless the connection is TLS.
type provedFrame struct {
	Proof [auth.ProofSize]byte
}

func (f *provedFrame) code(c *coder) { c.raw("proof", f.Proof[:]) }

// joinedFrame answers JOIN: the attempt is in.
type joinedFrame struct {
	Attempt   uint64
	LostAfter time.Duration // of silence, as it holds for this attempt
	Joined    uint32        // ranks, this one included
	Seen      string        // the address that the connection comes from
	Roster    roster        // of a job that starts without ranks that have not come
}

func (f *joinedFrame) code(c *coder) {
	c.u64("attempt", &f.Attempt)
	c.millis("lost_after", &f.LostAfter)
	c.u32("joined", &f.Joined)
	c.text("seen", maxHost, &f.Seen)
	f.Roster.code(c)
}

// refusedFrame is a no, and the last frame of its connection.
type refusedFrame struct {
	Code   Code
	Model  [32]byte // of the finished run, with JobFinished
	Reason string
}

func (f *refusedFrame) code(c *coder) {
	c.u16("code", (*uint16)(&f.Code))
	c.raw("model_sha256", f.Model[:])
	c.text("reason", maxWords, &f.Reason)
}

// waitingFrame tells a rank of a job that is not wired how far the job is.
type waitingFrame struct {
	Joined, Ready, Total uint32
	Report               string
}

func (f *waitingFrame) code(c *coder) {
	c.u32("joined", &f.Joined)
	c.u32("ready", &f.Ready)
	c.u32("total", &f.Total)
	c.text("report", maxWords, &f.Report)
}

// complete tells that no rank is missing.
func (f *waitingFrame) complete() bool { return f.Joined >= f.Total }

// beatenFrame answers BEAT.
type beatenFrame struct {
	Seq uint64
}

func (f *beatenFrame) code(c *coder) { c.u64("seq", &f.Seq) }

// startFrame wires a native job. All members get the same bytes.
type startFrame struct {
	Epoch       Epoch
	Token       [16]byte
	ResumeEpoch Epoch // the newest step that anyone completed; zero: begin
	ResumeStep  uint64
	Members     []member // by rank
	Lacks       []lack   // who cannot resume at once
}

// member is a rank that takes part in an epoch.
type member struct {
	Rank         int
	Capabilities uint64
	Port         uint16
	Host         string
	Seen         string // the address that it comes from; "": Host
}

// lack is what a member needs before it can resume, and who has it.
type lack struct {
	Rank, Source int
	What         uint8
}

// What a member lacks.
const (
	lackResults    uint8 = 1 // of the resume step
	lackState      uint8 = 2
	lackCheckpoint uint8 = 3 // it reads its own: Source is the member itself
)

func (f *startFrame) code(c *coder) {
	c.epoch("epoch", &f.Epoch)
	c.raw("token", f.Token[:])
	c.epoch("resume", &f.ResumeEpoch)
	c.u64("resume_step", &f.ResumeStep)
	list(c, "members", topo.MaxSize, 22, &f.Members, func(c *coder, m *member) {
		c.rank("rank", &m.Rank)
		c.u64("capabilities", &m.Capabilities)
		c.u16("port", &m.Port)
		c.text("host", maxHost, &m.Host)
		c.text("seen", maxSeen, &m.Seen)
	})
	list(c, "lacks", topo.MaxSize, 9, &f.Lacks, func(c *coder, l *lack) {
		c.rank("rank", &l.Rank)
		c.rank("source", &l.Source)
		c.u8("what", &l.What)
	})
}

// rosterFrame says who takes part in a job that starts without ranks that have not come.
type rosterFrame struct {
	Roster roster
}

func (f *rosterFrame) code(c *coder) { f.Roster.code(c) }

// wireFrame wires a native rank of a job that has vw workers.
type wireFrame struct {
	Epoch      Epoch
	Token      [16]byte
	Kids       uint8
	ParentPort uint16
	ParentHost string // "": this rank is the root
}

func (f *wireFrame) code(c *coder) {
	c.epoch("epoch", &f.Epoch)
	c.raw("token", f.Token[:])
	c.u8("kids", &f.Kids)
	c.u16("parent_port", &f.ParentPort)
	c.text("parent_host", maxHost, &f.ParentHost)
}

// causeKind says what ended an epoch.
type causeKind uint8

const (
	causeLost    causeKind = 1 // a rank went without a word, or left
	causeGaveUp  causeKind = 2 // a rank said why it fails
	causeRefused causeKind = 3 // the server fails the job: see Code
	causeLink    causeKind = 4 // an edge between two live ranks: Rank is the far end
	causeHanded  causeKind = 5 // a slow rank is handed over to a faster attempt
)

// cause is why an epoch is over.
type cause struct {
	Kind causeKind
	Code Code // with causeRefused
	Rank int  // -1: no single rank
	Host string
	Why  string
	// Detail is what a rank that gave up says to the others beside its words.
	Detail string
}

// overFrame ends an epoch, or a job that has none yet.
type overFrame struct {
	Epoch Epoch
	Final bool // no other epoch follows: the job has failed
	Cause cause
}

func (f *overFrame) code(c *coder) {
	c.epoch("epoch", &f.Epoch)
	c.flag("final", &f.Final)
	c.u8("kind", (*uint8)(&f.Cause.Kind))
	c.u16("code", (*uint16)(&f.Cause.Code))
	c.rank("rank", &f.Cause.Rank)
	c.text("host", maxHost, &f.Cause.Host)
	c.text("why", maxWords, &f.Cause.Why)
	c.blob("detail", maxDetail, &f.Cause.Detail)
}

// decidingFrame acknowledges ASK.
type decidingFrame struct {
	Epoch Epoch
	Peer  int
}

func (f *decidingFrame) code(c *coder) {
	c.epoch("epoch", &f.Epoch)
	c.rank("peer", &f.Peer)
}

// fencedFrame tells an attempt that it is no member any more.
type fencedFrame struct {
	Epoch  Epoch
	Reason string
}

func (f *fencedFrame) code(c *coder) {
	c.epoch("epoch", &f.Epoch)
	c.text("reason", maxWords, &f.Reason)
}

// standByFrame tells an attempt that another one holds its rank.
type standByFrame struct {
	Holder uint64 // the attempt
	Host   string
}

func (f *standByFrame) code(c *coder) {
	c.u64("holder", &f.Holder)
	c.text("host", maxHost, &f.Host)
}

// deliverFrame: all models are equal, this rank delivers these files.
type deliverFrame struct {
	Epoch Epoch
	Files []string
}

func (f *deliverFrame) code(c *coder) {
	c.epoch("epoch", &f.Epoch)
	c.texts("files", maxFiles, maxFile, &f.Files)
}

// byeFrame: the run is over and remembered. It is the last frame of its
// connection.
type byeFrame struct {
	Epoch Epoch
	Model [32]byte // zero: the rank left on its own
}

func (f *byeFrame) code(c *coder) {
	c.epoch("epoch", &f.Epoch)
	c.raw("model_sha256", f.Model[:])
}

// jobsFrame answers STATUS, in JSON: the type ServerStatus.
type jobsFrame struct {
	JSON string
}

func (f *jobsFrame) code(c *coder) { c.text("json", bigFrame-4, &f.JSON) }

// pullFrame tells a rank, in the ending, where to take from what it lacks.
type pullFrame struct {
	Epoch       Epoch
	Token       [16]byte // authenticates the connection to the source
	ResumeEpoch Epoch    // and step, what the source has completed
	ResumeStep  uint64
	What        uint8 // as in a lack: results or state
	Source      int   // a rank, whose data listener is at
	Port        uint16
	Host        string
}

func (f *pullFrame) code(c *coder) {
	c.epoch("epoch", &f.Epoch)
	c.raw("token", f.Token[:])
	c.epoch("resume", &f.ResumeEpoch)
	c.u64("resume_step", &f.ResumeStep)
	c.u8("what", &f.What)
	c.rank("source", &f.Source)
	c.u16("port", &f.Port)
	c.text("host", maxHost, &f.Host)
}

// assignFrame gives a spare its rank.
type assignFrame struct {
	Rank int
}

func (f *assignFrame) code(c *coder) { c.rank("rank", &f.Rank) }
