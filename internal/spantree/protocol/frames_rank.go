// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
)

// Limits on the texts in frames, in bytes.
const (
	MaxHost    = 255
	MaxSeen    = 64
	MaxRunKey  = 255
	MaxVersion = 64
	MaxOptions = 16 << 10
	MaxText    = 2048 // sentences for people: reasons, reports
	maxDetail  = 1024 // for programs
	MaxWaits   = 512
	maxFile    = 1024
	MaxFiles   = 16
	MaxStep    = 64
)

// AttemptState is how far an attempt is, in a JOIN. A server that has just
// started learns from it what it has forgotten.
type AttemptState uint8

const (
	stateJoined AttemptState = iota
	StateReady
	StateComplete
	stateDone
)

// JoinFrame is the first frame of an attempt of a rank.
type JoinFrame struct {
	UniqueID      uint64
	Rank, Total   uint32 // Rank is NoRank for a spare
	Generation    uint32
	State         AttemptState
	Attempt       uint64
	Epoch         Epoch // it is wired in; zero: none yet
	Capabilities  uint64
	Heartbeat     time.Duration // it will send one this often
	LostAfter     time.Duration // of silence; 0: the server's default
	OptionsSHA256 [32]byte
	Port          uint16 // of its data listener
	AdvertiseHost string // "": where the connection comes from
	Host          string // its name, in messages; "": where the connection comes from
	RunKey        string
	Options       string // "bits=18 loss=logistic …"
	Version       string // of the program

	OnLoss         OnLoss
	ReplaceTimeout time.Duration // for a lost rank to be replaced; 0: the server's default
	SlowFactor     float64       // of the median, from which a rank is handed over; 0: never
	Completed      Epoch         // and step, the newest this attempt has completed
	Step           uint64        // 0: none
	Token          [16]byte      // of Epoch: a restarted server needs it for who comes later
	Owner          [32]byte      // SHA-256 of the claim by which the job may be cancelled; zero: nobody's
	Elastic        time.Duration // from the coming of the first rank, after which the job starts without ranks that have not come; 0: never
	Members        Members       // as this attempt knows it: a server that has been started again learns it
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

// ProofFrame shows that who connects has the secret.
type ProofFrame struct {
	Nonce [auth.NonceSize]byte
	Proof [auth.ProofSize]byte
}

func (f *ProofFrame) code(c *coder) {
	c.raw("nonce", f.Nonce[:])
	c.raw("proof", f.Proof[:])
}

// ReadyFrame: the shard is read and the work before the first collective done.
type ReadyFrame struct {
	Epoch      Epoch
	Shard      Shard
	Checkpoint uint64 // step of the checkpoint that rank 0 can read; 0: none
}

func (f *ReadyFrame) code(c *coder) {
	c.epoch("epoch", &f.Epoch)
	c.u64("examples", &f.Shard.Examples)
	c.u64("bytes", &f.Shard.Bytes)
	c.u32("crc", &f.Shard.CRC)
	c.nanos("took", &f.Shard.Took)
	c.u64("checkpoint", &f.Checkpoint)
}

// BeatFrame is a heartbeat.
type HeartbeatFrame struct {
	Seq        uint64
	Epoch      Epoch
	WaitsFor   int    // a rank, -1: nobody in particular
	Collective uint64 // it is in, 0: none
	Waits      string // for what, in words
}

func (f *HeartbeatFrame) code(c *coder) {
	c.u64("seq", &f.Seq)
	c.epoch("epoch", &f.Epoch)
	c.rank("waits_for", &f.WaitsFor)
	c.u64("collective", &f.Collective)
	c.text("waits", MaxWaits, &f.Waits)
}

// ReportFrame is progress.
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

// AskFrame asks the server to judge an edge of the tree.
type AskFrame struct {
	Epoch      Epoch
	Peer       int // at its other end
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

// AtFrame answers EPOCH_END.
type PositionFrame struct {
	Epoch     Epoch  // that is over
	Completed Epoch  // and step, the newest this rank has completed
	Step      uint64 // 0: none
	Work      bool   // a contribution to the next step is in hand
	WaitsFor  int    // whom it waited for, -1: nobody
}

func (f *PositionFrame) code(c *coder) {
	c.epoch("epoch", &f.Epoch)
	c.epoch("completed", &f.Completed)
	c.u64("step", &f.Step)
	c.flag("work", &f.Work)
	c.rank("waits_for", &f.WaitsFor)
}

// CompleteFrame: the last step is completed.
type CompleteFrame struct {
	Epoch Epoch
	Step  uint64
	Model [32]byte // SHA-256
	Owed  []string // files
}

func (f *CompleteFrame) code(c *coder) {
	c.epoch("epoch", &f.Epoch)
	c.u64("step", &f.Step)
	c.raw("model_sha256", f.Model[:])
	c.texts("owed", MaxFiles, maxFile, &f.Owed)
}

// DoneFrame: a file is delivered.
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

// LeaveFrame: the attempt goes, without a complaint.
type LeaveFrame struct {
	Epoch  Epoch
	Reason string
}

func (f *LeaveFrame) code(c *coder) {
	c.epoch("epoch", &f.Epoch)
	c.text("reason", MaxText, &f.Reason)
}

// FailFrame: the rank gives up, and the job with it.
type FailFrame struct {
	Epoch  Epoch
	Reason string
	Detail string // for the other ranks, which alone read it
}

func (f *FailFrame) code(c *coder) {
	c.epoch("epoch", &f.Epoch)
	c.text("reason", MaxText, &f.Reason)
	c.blob("detail", maxDetail, &f.Detail)
}

// StatusFrame asks for the listing of jobs. It is the only frame of its
// connection.
type StatusFrame struct{}

func (f *StatusFrame) code(*coder) {}

// CancelFrame asks the server to end a job. It is the only frame of its
// connection.
type CancelFrame struct {
	UniqueID uint64
	RunKey   string
	Reason   string
	Claim    [32]byte // whose SHA-256 is the job's owner; zero: there is none
}

func (f *CancelFrame) code(c *coder) {
	c.u64("unique_id", &f.UniqueID)
	c.text("run_key", MaxRunKey, &f.RunKey)
	c.text("reason", MaxText, &f.Reason)
	c.raw("claim", f.Claim[:])
}

// Spare tells that a JOIN is that of a spare.
func (f *JoinFrame) Spare() bool { return f.Rank == NoRank }

// Seat is the rank of a JOIN; -1: a spare has none.
func (f *JoinFrame) RankOrNone() int {
	if f.Spare() {
		return -1
	}
	return int(f.Rank)
}
