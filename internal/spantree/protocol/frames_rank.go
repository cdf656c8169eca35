// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
)

// Limits of the texts in frames, in bytes.
const (
	MaxHost    = 255
	MaxSeen    = 64
	MaxRunKey  = 255
	MaxVersion = 64
	MaxOptions = 16 << 10
	MaxText    = 2048 // for people: reasons, reports
	maxDetail  = 1024 // for programs
	MaxWaits   = 512
	maxFile    = 1024
	MaxFiles   = 16
	MaxStep    = 64
)

// AttemptState is the progress of an attempt, in JOIN. It is for display: a restarted server acts
// only on the frames that the attempt repeats.
type AttemptState uint8

const (
	stateJoined AttemptState = iota
	StateReady
	StateComplete
	stateDone
)

// JoinFrame (JOIN) is the first frame of an attempt.
type JoinFrame struct {
	UniqueID      uint64
	Rank, Total   uint32 // Rank is NoRank for a spare
	Generation    uint32
	State         AttemptState
	Attempt       uint64
	Epoch         Epoch // in which it is wired; zero: none yet
	Capabilities  uint64
	Heartbeat     time.Duration // interval of heartbeats
	LostAfter     time.Duration // silence after which it is lost; 0: the server's default
	OptionsSHA256 [32]byte
	Port          uint16 // of its data listener
	AdvertiseHost string // "": the source of the connection
	Host          string // its name in messages; "": the source of the connection
	RunKey        string
	Options       string // "bits=18 loss=logistic …", equal on all ranks
	Version       string // of the program

	OnLoss         OnLoss
	ReplaceTimeout time.Duration // for the replacement of a lost rank; 0: the server's default
	SlowFactor     float64       // times the median: from there on a rank is handed over; 0: never
	Completed      Epoch         // epoch of the newest step that this attempt has completed; zero: none
	Step           uint64        // number of that step; 0: none
	Token          [16]byte      // of Epoch; a restarted server needs it for ranks that join later
	Owner          [32]byte      // SHA-256 of the claim that cancels the job; zero: every client may cancel it
	Elastic        time.Duration // from the first join until the job starts without missing ranks; 0: never
	Members        Members       // as known to this attempt; a restarted server learns them from it
}

func (f *JoinFrame) code(c *coder) {
	c.u64("unique_id", &f.UniqueID)
	c.u32("rank", &f.Rank)
	c.u32("total", &f.Total)
	c.u32("generation", &f.Generation)
	c.u8("state", (*uint8)(&f.State))
	c.u64("attempt", &f.Attempt)
	c.epoch("epoch", &f.Epoch)
	c.u64("capabilities", &f.Capabilities)
	c.millis("heartbeat", &f.Heartbeat)
	c.millis("lost_after", &f.LostAfter)
	c.raw("options_sha256", f.OptionsSHA256[:])
	c.u16("port", &f.Port)
	c.text("advertise_host", MaxHost, &f.AdvertiseHost)
	c.text("host", MaxHost, &f.Host)
	c.text("run_key", MaxRunKey, &f.RunKey)
	c.text("options", MaxOptions, &f.Options)
	c.text("version", MaxVersion, &f.Version)
	c.u8("on_loss", (*uint8)(&f.OnLoss))
	c.millis("replace_timeout", &f.ReplaceTimeout)
	c.f64("slow_factor", &f.SlowFactor)
	c.epoch("completed", &f.Completed)
	c.u64("step", &f.Step)
	c.raw("token", f.Token[:])
	c.raw("owner", f.Owner[:])
	c.millis("elastic", &f.Elastic)
	f.Members.code(c)
}

// ProofFrame (PROOF) proves that the client has the secret.
type ProofFrame struct {
	Nonce [auth.NonceSize]byte
	Proof [auth.ProofSize]byte
}

func (f *ProofFrame) code(c *coder) {
	c.raw("nonce", f.Nonce[:])
	c.raw("proof", f.Proof[:])
}

// ReadyFrame (READY) reports that the shard is read, and that the work before the first collective
// is done.
type ReadyFrame struct {
	Epoch      Epoch
	Shard      Shard
	Checkpoint uint64 // of rank 0: step of the newest checkpoint that it can read; 0: none
}

func (f *ReadyFrame) code(c *coder) {
	c.epoch("epoch", &f.Epoch)
	c.u64("examples", &f.Shard.Examples)
	c.u64("bytes", &f.Shard.Bytes)
	c.u32("crc", &f.Shard.CRC)
	c.nanos("took", &f.Shard.Took)
	c.u64("checkpoint", &f.Checkpoint)
}

// HeartbeatFrame (HEARTBEAT) is a sign of life. It also feeds the graph of waiting ranks by which
// the server finds faulty edges.
type HeartbeatFrame struct {
	Seq        uint64
	Epoch      Epoch
	WaitsFor   int    // rank from which the next bytes must come; -1: none
	Collective uint64 // current collective; 0: none
	Waits      string // the awaited event, in words
}

func (f *HeartbeatFrame) code(c *coder) {
	c.u64("seq", &f.Seq)
	c.epoch("epoch", &f.Epoch)
	c.rank("waits_for", &f.WaitsFor)
	c.u64("collective", &f.Collective)
	c.text("waits", MaxWaits, &f.Waits)
}

// ReportFrame (REPORT) is the rank's progress.
type ReportFrame struct {
	Epoch    Epoch
	Progress Progress
}

func (f *ReportFrame) code(c *coder) {
	c.epoch("epoch", &f.Epoch)
	c.u32("pass", &f.Progress.Pass)
	c.u64("number", &f.Progress.Number)
	c.u64("examples", &f.Progress.Examples)
	c.f64("loss", &f.Progress.Loss)
	c.nanos("step_took", &f.Progress.StepTook)
	c.text("step", MaxStep, &f.Progress.Step)
}

// AskFrame (ASK) reports an edge that stalls, broke or fails a checksum, and asks the server for a
// decision.
type AskFrame struct {
	Epoch      Epoch
	Peer       int // at the other end
	Collective uint64
	Fault      EdgeFault
	Detail     string
}

func (f *AskFrame) code(c *coder) {
	c.epoch("epoch", &f.Epoch)
	c.rank("peer", &f.Peer)
	c.u64("collective", &f.Collective)
	c.u8("fault", (*uint8)(&f.Fault))
	c.text("detail", MaxText, &f.Detail)
}

// PositionFrame (POSITION) answers EPOCH_END.
type PositionFrame struct {
	Epoch     Epoch  // that has ended
	Completed Epoch  // epoch of the newest completed step
	Step      uint64 // number of that step; 0: none
	Work      bool   // a contribution to the next step is in hand
	WaitsFor  int    // rank for which it waited; -1: none
}

func (f *PositionFrame) code(c *coder) {
	c.epoch("epoch", &f.Epoch)
	c.epoch("completed", &f.Completed)
	c.u64("step", &f.Step)
	c.flag("work", &f.Work)
	c.rank("waits_for", &f.WaitsFor)
}

// CompleteFrame (COMPLETE) reports that the last step is completed.
type CompleteFrame struct {
	Epoch Epoch
	Step  uint64
	Model [32]byte // SHA-256 of the model
	Owed  []string // names of the files to deliver
}

func (f *CompleteFrame) code(c *coder) {
	c.epoch("epoch", &f.Epoch)
	c.u64("step", &f.Step)
	c.raw("model_sha256", f.Model[:])
	c.texts("owed", MaxFiles, maxFile, &f.Owed)
}

// DeliveredFrame (DELIVERED) reports that a file is delivered.
type DeliveredFrame struct {
	Epoch   Epoch
	Attempt uint64
	SHA256  [32]byte
	File    string
}

func (f *DeliveredFrame) code(c *coder) {
	c.epoch("epoch", &f.Epoch)
	c.u64("attempt", &f.Attempt)
	c.raw("sha256", f.SHA256[:])
	c.text("file", maxFile, &f.File)
}

// LeaveFrame (LEAVE) reports that the attempt leaves without an error.
type LeaveFrame struct {
	Epoch  Epoch
	Reason string
}

func (f *LeaveFrame) code(c *coder) {
	c.epoch("epoch", &f.Epoch)
	c.text("reason", MaxText, &f.Reason)
}

// FailFrame (FAIL) reports that the rank gives up, and the job with it.
type FailFrame struct {
	Epoch  Epoch
	Reason string
	Detail string // for the other ranks; the server forwards it without decoding it
}

func (f *FailFrame) code(c *coder) {
	c.epoch("epoch", &f.Epoch)
	c.text("reason", MaxText, &f.Reason)
	c.blob("detail", maxDetail, &f.Detail)
}

// StatusFrame (STATUS) requests the list of jobs. It is the only frame of its connection.
type StatusFrame struct{}

func (f *StatusFrame) code(*coder) {}

// CancelFrame (CANCEL) requests the end of a job. It is the only frame of its connection.
type CancelFrame struct {
	UniqueID uint64
	RunKey   string
	Reason   string
	Claim    [32]byte // its SHA-256 is the job's owner; zero: none
}

func (f *CancelFrame) code(c *coder) {
	c.u64("unique_id", &f.UniqueID)
	c.text("run_key", MaxRunKey, &f.RunKey)
	c.text("reason", MaxText, &f.Reason)
	c.raw("claim", f.Claim[:])
}

// Spare reports whether the JOIN is from a spare.
func (f *JoinFrame) Spare() bool { return f.Rank == NoRank }

// RankOrNone returns the rank of a JOIN, or -1 for a spare.
func (f *JoinFrame) RankOrNone() int {
	if f.Spare() {
		return -1
	}
	return int(f.Rank)
}
