// SPDX-License-Identifier: Apache-2.0

package events

import (
	"context"
	"errors"
	"io/fs"
	"syscall"
)

// Class is the kind of a rank's own error. Its numbers are part of the protocol.
type Class uint8

const (
	Other       Class = 0
	DiskFull    Class = 1
	ReadOnly    Class = 2  // a read-only file system
	NoFile      Class = 3  // a file does not exist
	Denied      Class = 4  // the permission for a file is missing
	DiskFailed  Class = 5  // an input or output error of a device
	Hung        Class = 6  // a file system that does not answer
	Memory      Class = 7  // no memory is left
	Descriptors Class = 8  // no file descriptor is left
	BadData     Class = 9  // malformed examples, cache or model
	BadOptions  Class = 10 // options that exclude each other, or differ between ranks
	Credentials Class = 11 // a wrong secret or certificate
	Stopped     Class = 12 // the process was told to end
	Panicked    Class = 13 // a fault of the program
	Stall       Class = 14 // no byte moved between this rank and Peer
	MaxWait     Class = 15 // Peer has not entered a collective for too long
	CallDiffers Class = 16 // the call of Peer differs
	Corrupt     Class = 17 // bytes of Peer were changed on the way
	PeerLost    Class = 18 // the connection to Peer has ended
	NotStarted  Class = 19 // ranks were missing at the start
	ServerLost  Class = 20 // the server cannot be reached
)

// Classified is implemented by errors that have a class of their own.
type Classified interface {
	error
	FaultClass() Class
}

// ClassOf returns the class of an error. An error that wraps a [Classified] one has its class. The errors of the
// operating system have theirs; all others are Other.
func ClassOf(err error) Class {
	if c, ok := errors.AsType[Classified](err); ok {
		return c.FaultClass()
	}
	for _, row := range systemErrors {
		if errors.Is(err, row.err) {
			return row.class
		}
	}
	return Other
}

var systemErrors = []struct {
	err   error
	class Class
}{
	{syscall.ENOSPC, DiskFull},
	{syscall.EDQUOT, DiskFull},
	{syscall.EROFS, ReadOnly},
	{syscall.EIO, DiskFailed},
	{syscall.ENOMEM, Memory},
	{syscall.EMFILE, Descriptors},
	{syscall.ENFILE, Descriptors},
	{fs.ErrNotExist, NoFile},
	{fs.ErrPermission, Denied},
	{context.Canceled, Stopped},
}
