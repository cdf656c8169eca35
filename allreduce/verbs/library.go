// SPDX-License-Identifier: Apache-2.0

package verbs

// Library is where devices come from: libibverbs ([System]), or package verbstest. A Queue is
// used by one goroutine at a time, all else by any.
type Library interface {
	// Devices lists what there is, also what is not active.
	Devices() ([]Device, error)
	// Open opens a device.
	Open(p Place) (Context, error)
}

// Context is an open device, and a protection domain: its regions and queues know no others.
type Context interface {
	// Register lets the device read and write mem, which stays where it is until the
	// Region is closed, and other machines as access says.
	Register(mem []byte, access Access) (Region, error)
	// Window makes a memory window of type 2. Devices without them return an error.
	Window() (Window, error)
	// Queue makes a reliable connected queue pair with completions of its own.
	Queue(c QueueConfig) (Queue, error)
	// Close follows that of all regions and queues.
	Close() error
}

// Access is what other machines may do with registered memory.
type Access uint8

// The kinds of access.
const (
	AccessLocal  Access = iota // nothing
	AccessRemote               // write it
	AccessWindow               // write what a Window is bound to
)

// Window is a way to a part of a region, while it is bound: by an OpBind, with a key that
// follows the one before ([nextKey]), until an OpInvalidate of that key.
type Window interface {
	// Key is the one before the first.
	Key() uint32
	Close() error
}

// Region is registered memory.
type Region interface {
	// Keys are what this machine and others name it by.
	Keys() (local, remote uint32)
	// Address is what others name its first byte by.
	Address() uint64
	Close() error
}

// QueueConfig is the size of a queue.
type QueueConfig struct {
	Sends, Receives int // work requests at once
	Inline          int // bytes that a send may carry in itself; the device may offer fewer
}

// Peer is the other end of a queue.
type Peer struct {
	Queue uint32
	PSN   uint32 // of its first packet
	LID   uint16
	GID   [16]byte
	MTU   int // the smaller of both ends
}

// Queue is a queue pair. No call waits.
type Queue interface {
	// Number is what the other end names it by, Inline what a send may carry in itself.
	Number() uint32
	Inline() int
	// Connect makes it ready to receive and to send; psn is that of its own first packet.
	// Receives may be posted before.
	Connect(p Peer, psn uint32) error
	// Send posts a work request. At most QueueConfig.Sends may be without completion.
	Send(w Work) error
	// Receive posts memory for one message.
	Receive(id uint64, mem []byte, key uint32) error
	// Poll takes completions.
	Poll(dst []Completion) (int, error)
	// Arm makes FD readable with the next completion that comes.
	Arm() error
	// FD is readable once after each Arm; Silence makes it unreadable.
	FD() int
	Silence()
	// Break takes the queue out of service, as a fault does: all that is posted
	// completes with an error.
	Break() error
	Close() error
}

// Op is what a work request does.
type Op uint8

// The operations.
const (
	OpSend       Op = iota // into memory that the other end has posted
	OpSendNote             // likewise, with Imm
	OpWriteNote            // into registered memory of the other end, which gets Imm
	OpBind                 // binds Window to Mem, a part of Region, under RemoteKey, for the other end to write
	OpInvalidate           // ends that
	OpReceive              // of completions alone
)

var opNames = [...]string{
	OpSend: "send", OpSendNote: "send with immediate", OpWriteNote: "RDMA write with immediate",
	OpReceive: "receive",
	OpBind:    "bind of a memory window", OpInvalidate: "invalidation of a key",
}

func (o Op) String() string { return opNames[o] }

// Work is a request to send. Every one of them ends with a completion.
type Work struct {
	ID        uint64
	Op        Op
	Mem       []byte // in registered memory of this end
	Key       uint32 // its local key
	Inline    bool   // Mem is taken at once
	Imm       uint32
	Remote    uint64 // where at the other end
	RemoteKey uint32
	Window    Window
	Region    Region
}

// Completion is the end of a work request, or a message that has come.
type Completion struct {
	ID     uint64
	Op     Op // of a failed one it may be any
	Status Status
	Vendor uint32 // the device's own number of an error
	Len    int    // of a receive
	Imm    uint32
	Noted  bool // Imm has come
}
