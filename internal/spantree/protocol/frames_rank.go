// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/internal/wire"
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

// Job returns the name of the job that the attempt joins.
func (f *JoinFrame) Job() Job { return Job{f.UniqueID, f.RunKey} }

func (f *JoinFrame) code(c *wire.Coder) {
	c.U64("unique_id", &f.UniqueID)
	c.U32("rank", &f.Rank)
	c.U32("total", &f.Total)
	c.U32("generation", &f.Generation)
	c.U8("state", (*uint8)(&f.State))
	c.U64("attempt", &f.Attempt)
	f.Epoch.Code(c, "epoch")
	c.U64("capabilities", &f.Capabilities)
	c.Millis("heartbeat", &f.Heartbeat)
	c.Millis("lost_after", &f.LostAfter)
	c.Raw("options_sha256", f.OptionsSHA256[:])
	c.U16("port", &f.Port)
	c.Text("advertise_host", MaxHost, &f.AdvertiseHost)
	c.Text("host", MaxHost, &f.Host)
	c.Text("run_key", MaxRunKey, &f.RunKey)
	c.Text("options", MaxOptions, &f.Options)
	c.Text("version", MaxVersion, &f.Version)
	c.U8("on_loss", (*uint8)(&f.OnLoss))
	c.Millis("replace_timeout", &f.ReplaceTimeout)
	c.F64("slow_factor", &f.SlowFactor)
	f.Completed.Code(c, "completed")
	c.U64("step", &f.Step)
	c.Raw("token", f.Token[:])
	c.Raw("owner", f.Owner[:])
	c.Millis("elastic", &f.Elastic)
	f.Members.code(c)
}

// ProofFrame (PROOF) proves that the client has the secret.
type ProofFrame struct {
	Nonce [auth.NonceSize]byte
	Proof [auth.ProofSize]byte
}

func (f *ProofFrame) code(c *wire.Coder) {
	c.Raw("nonce", f.Nonce[:])
	c.Raw("proof", f.Proof[:])
}

// ReadyFrame (READY) reports that the shard is read, and that the work before the first collective
// is done.
type ReadyFrame struct {
	Epoch      Epoch
	Shard      Shard
	Checkpoint uint64 // of rank 0: step of the newest checkpoint that it can read; 0: none
}

func (f *ReadyFrame) code(c *wire.Coder) {
	f.Epoch.Code(c, "epoch")
	c.U64("examples", &f.Shard.Examples)
	c.U64("bytes", &f.Shard.Bytes)
	c.U32("crc", &f.Shard.CRC)
	c.Nanos("took", &f.Shard.Took)
	c.U64("checkpoint", &f.Checkpoint)
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

func (f *HeartbeatFrame) code(c *wire.Coder) {
	c.U64("seq", &f.Seq)
	f.Epoch.Code(c, "epoch")
	c.Rank("waits_for", &f.WaitsFor)
	c.U64("collective", &f.Collective)
	c.Text("waits", MaxWaits, &f.Waits)
}

// ReportFrame (REPORT) is the rank's progress.
type ReportFrame struct {
	Epoch    Epoch
	Progress Progress
}

func (f *ReportFrame) code(c *wire.Coder) {
	f.Epoch.Code(c, "epoch")
	c.U32("pass", &f.Progress.Pass)
	c.U64("number", &f.Progress.Number)
	c.U64("examples", &f.Progress.Examples)
	c.F64("loss", &f.Progress.Loss)
	c.Nanos("step_took", &f.Progress.StepTook)
	c.F64("holdout", &f.Progress.Holdout)
	c.Text("step", MaxStep, &f.Progress.Step)
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

func (f *AskFrame) code(c *wire.Coder) {
	f.Epoch.Code(c, "epoch")
	c.Rank("peer", &f.Peer)
	c.U64("collective", &f.Collective)
	c.U8("fault", (*uint8)(&f.Fault))
	c.Text("detail", MaxText, &f.Detail)
}

// PositionFrame (POSITION) answers EPOCH_END.
type PositionFrame struct {
	Epoch     Epoch  // that has ended
	Completed Epoch  // epoch of the newest completed step
	Step      uint64 // number of that step; 0: none
	Work      bool   // a contribution to the next step is in hand
	WaitsFor  int    // rank for which it waited; -1: none
}

func (f *PositionFrame) code(c *wire.Coder) {
	f.Epoch.Code(c, "epoch")
	f.Completed.Code(c, "completed")
	c.U64("step", &f.Step)
	c.Flag("work", &f.Work)
	c.Rank("waits_for", &f.WaitsFor)
}

// CompleteFrame (COMPLETE) reports that the last step is completed.
type CompleteFrame struct {
	Epoch Epoch
	Step  uint64
	Model [32]byte // SHA-256 of the model
	Owed  []string // names of the files to deliver
}

func (f *CompleteFrame) code(c *wire.Coder) {
	f.Epoch.Code(c, "epoch")
	c.U64("step", &f.Step)
	c.Raw("model_sha256", f.Model[:])
	c.Texts("owed", MaxFiles, maxFile, &f.Owed)
}

// DeliveredFrame (DELIVERED) reports that a file is delivered.
type DeliveredFrame struct {
	Epoch   Epoch
	Attempt uint64
	SHA256  [32]byte
	File    string
}

func (f *DeliveredFrame) code(c *wire.Coder) {
	f.Epoch.Code(c, "epoch")
	c.U64("attempt", &f.Attempt)
	c.Raw("sha256", f.SHA256[:])
	c.Text("file", maxFile, &f.File)
}

// LeaveFrame (LEAVE) reports that the attempt leaves without an error.
type LeaveFrame struct {
	Epoch  Epoch
	Reason string
}

func (f *LeaveFrame) code(c *wire.Coder) {
	f.Epoch.Code(c, "epoch")
	c.Text("reason", MaxText, &f.Reason)
}

// FailFrame (FAIL) reports that the rank gives up, and the job with it.
type FailFrame struct {
	Epoch  Epoch
	Reason string
	Detail string // for the other ranks; the server forwards it without decoding it
}

func (f *FailFrame) code(c *wire.Coder) {
	f.Epoch.Code(c, "epoch")
	c.Text("reason", MaxText, &f.Reason)
	c.Blob("detail", maxDetail, &f.Detail)
}

// StatusFrame (STATUS) requests the list of jobs. It is the only frame of its connection.
type StatusFrame struct{}

func (f *StatusFrame) code(*wire.Coder) {}

// CancelFrame (CANCEL) requests the end of a job. It is the only frame of its connection.
type CancelFrame struct {
	UniqueID uint64
	RunKey   string
	Reason   string
	Claim    [32]byte // its SHA-256 is the job's owner; zero: none
}

func (f *CancelFrame) code(c *wire.Coder) {
	c.U64("unique_id", &f.UniqueID)
	c.Text("run_key", MaxRunKey, &f.RunKey)
	c.Text("reason", MaxText, &f.Reason)
	c.Raw("claim", f.Claim[:])
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
