// SPDX-License-Identifier: Apache-2.0

package link

// Handler is the owner's side of one link: it gives incoming frames their meaning and outgoing
// data their order. Methods marked (lock) are called under the set's lock.
//
// An error from a method fails the link. Link.Fail passes it to the set's owner unchanged.
type Handler interface {
	// Call takes the payload of a call frame (lock). With Wait it is called again after the next
	// Wake: the owner has not entered that call yet.
	Call(payload []byte) (Verdict, error)
	// Progress takes the payload of a progress frame (lock).
	Progress(payload []byte) error
	// Fault takes the payload of a fault frame, and returns the failure that it describes.
	Fault(payload []byte) error
	// Expect returns the memory for a data frame of n bytes (lock). Wait: the data cannot be placed
	// yet. Drop: it is not needed.
	Expect(n int) (dst []byte, v Verdict, err error)
	// Received takes the data frame that lies in the memory of Expect and has been verified.
	// Wait: it is called again after the next Wake; then it has called Link.Hold under the lock.
	Received(data []byte, f Frame) Verdict
	// Due reports whether data may arrive now. Only the goroutine in Driver.Carry calls it.
	Due() bool

	// Next returns the next chunk to write (lock).
	Next() (c Chunk, ok bool)
	// Summed stores the checksum of the chunk of the last Next.
	Summed(sum uint32)
	// Written notes that the chunk of the last Next has been written.
	Written()
	// Sign returns a frame without data that is due, a call or a progress frame (lock). kind 0: there is none.
	Sign() (kind byte, payload []byte)

	// SharesMemory reports whether this rank and the peer share memory (lock).
	SharesMemory() bool
	// InUse reports whether the work under way uses the link (lock).
	InUse() bool
}

// Verdict is a handler's decision about a frame.
type Verdict uint8

const (
	Take Verdict = iota // the handler takes the frame
	Wait                // the handler takes it later
	Drop                // the frame is skipped
)

// Chunk is data to write.
type Chunk struct {
	Call   []byte // the payload of a call frame that precedes the data; nil: none
	Data   []byte // memory of the owner, unchanged until Written
	Sum    uint32 // checksum of Data
	Summed bool   // Sum is known
}
