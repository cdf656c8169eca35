// SPDX-License-Identifier: Apache-2.0

package verbs

// Library opens devices: libibverbs ([System]) or package verbstest. A Queue is used by one
// goroutine at a time; everything else is safe for concurrent use.
type Library interface {
	// Devices returns all devices, including inactive ones.
	Devices() ([]Device, error)
	// Open opens a device.
	Open(p Place) (Context, error)
}

// Context is an open device with a protection domain, which its regions and queues share.
type Context interface {
	// Register lets the device read and write mem, and other machines as access allows. mem
	// must not be freed or moved until the Region is closed.
	Register(mem []byte, access Access) (Region, error)
	// Window makes a memory window of type 2. Devices without them return an error.
	Window() (Window, error)
	// Queue makes a reliable connected queue pair with its own completion queue.
	Queue(c QueueConfig) (Queue, error)
	// Close closes the device. All regions and queues must be closed before.
	Close() error
}

// Access is the access of other machines to registered memory.
type Access uint8

// The kinds of access.
const (
	AccessLocal  Access = iota // none
	AccessRemote               // write
	AccessWindow               // write to the part to which a Window is bound
)

// Window grants access to a part of a region while it is bound: from an OpBind with the key
// that follows the previous one ([nextKey]) until an OpInvalidate of that key.
type Window interface {
	// Key returns the key before the first OpBind.
	Key() uint32
	Close() error
}

// Region is registered memory.
type Region interface {
	// Keys returns the keys by which this machine and other machines name it.
	Keys() (local, remote uint32)
	// Address returns the address of its first byte for other machines.
	Address() uint64
	Close() error
}

// QueueConfig is the size of a queue.
type QueueConfig struct {
	Sends, Receives int // numbers of pending work requests
	Inline          int // bytes of an inline send; the device may offer fewer
}

// Peer is the address of the other end of a queue.
type Peer struct {
	Queue uint32
	PSN   uint32 // of its first packet
	LID   uint16
	GID   [16]byte
	MTU   int // the lesser of both ends' in bytes
}

// Queue is a queue pair. No call blocks.
type Queue interface {
	// Number returns the queue's number for the other end, Inline the limit of an inline send in bytes.
	Number() uint32
	Inline() int
	// Connect makes the queue ready to receive and send; psn is the number of its own first
	// packet. Receives may be posted before.
	Connect(p Peer, psn uint32) error
	// Send posts a work request. At most QueueConfig.Sends may be pending.
	Send(w Work) error
	// Receive posts memory for one message.
	Receive(id uint64, mem []byte, key uint32) error
	// Poll stores completions in dst, and returns their number.
	Poll(dst []Completion) (int, error)
	// Arm makes FD readable at the next completion.
	Arm() error
	// FD returns a descriptor that becomes readable once after each Arm; Silence resets it.
	FD() int
	Silence()
	// Break puts the queue into the error state, as a fault does: all pending requests
	// complete with an error.
	Break() error
	Close() error
}

// Op is the type of a work request.
type Op uint8

// The operations.
const (
	OpSend       Op = iota // to memory that the other end has posted
	OpSendNote             // likewise, with Imm
	OpWriteNote            // to registered memory of the other end, which also gets Imm
	OpBind                 // binds Window to Mem, a part of Region, under RemoteKey, so that the other end can write there
	OpInvalidate           // revokes RemoteKey
	OpReceive              // only in completions
	OpWrite                // to registered memory of the other end, which does not notice it
)

var opNames = [...]string{
	OpSend: "send", OpSendNote: "send with immediate", OpWriteNote: "RDMA write with immediate",
	OpReceive: "receive", OpWrite: "RDMA write",
	OpBind: "bind of a memory window", OpInvalidate: "invalidation of a key",
}

func (o Op) String() string { return opNames[o] }

// Work is a work request. Each one ends with a completion.
type Work struct {
	ID        uint64
	Op        Op
	Mem       []byte // in registered memory of this end
	Key       uint32 // its local key
	Inline    bool   // Mem is copied when the request is posted
	Imm       uint32
	Remote    uint64 // address at the other end
	RemoteKey uint32
	Window    Window
	Region    Region
}

// Completion is the end of a work request, or the arrival of a message.
type Completion struct {
	ID     uint64
	Op     Op // undefined for a failed request
	Status Status
	Vendor uint32 // the device's own error code
	Len    int    // length of a received message
	Imm    uint32
	Noted  bool // Imm is valid
}
