// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// readBuffer holds the frames of small collectives, so that one read
	// brings header and data; large parts are read past it.
	readBuffer = 16 << 10
	// copyLimit is up to where data is copied behind its header, to be written at
	// once; what is longer is written from where it is.
	copyLimit = 8 << 10
	// maxChunk bounds what a data frame may hold.
	maxChunk = 16 << 20
	// faultPatience is how long a rank that gives up tries to tell a neighbour.
	faultPatience = time.Second
)

// edge is an open connection to a neighbour in the tree.
type edge struct {
	en    *engine
	index int    // schedule.Up, Left, Right
	rank  int    // at the other end; unknownRank in a job with vw workers
	host  string // its address, for messages

	conn net.Conn
	br   *bufio.Reader
	in   atomic.Int64 // bytes read from the connection
	out  atomic.Int64 // bytes written to it

	// Of the reader, which works in stream.go or native.go.
	slots  [2][]byte // parts that wait to be combined
	scrap  []byte    // a frame's header and its small payload
	stale  []byte    // the last callID that came when its call was over here
	served uint64    // stream: the last collective whose parts have all arrived

	// Under the engine's lock.
	parked  bool
	wake    chan struct{}
	broken  bool    // a write failed; the reader finds out why
	gone    error   // stream: it ended between collectives
	entered uint64  // the newest collective in which the peer is known to be
	note    note    // the newest one
	idle    idleFor // of the watchdog

	// The writer.
	writing atomic.Bool   // data is being written
	gate    chan struct{} // capacity 1; who has put something in may write
	head    []byte        // frames to write
	pair    [2][]byte
	bufs    net.Buffers
	begun   uint64 // the newest collective whose header has been written
	shut    bool   // after a fault nothing more is written
}

// unknownRank is the rank of a neighbour that did not tell.
const unknownRank = -1

func newEdge(en *engine, index, rank int, host string, conn net.Conn) *edge {
	e := &edge{en: en, index: index, rank: rank, host: host, conn: conn, wake: make(chan struct{}, 1), gate: make(chan struct{}, 1)}
	e.br = bufio.NewReaderSize(countingReader{e}, readBuffer)
	e.scrap = make([]byte, frameSize+callMax)
	e.head = make([]byte, 0, 2*frameSize+callMax+copyLimit)
	return e
}

// countingReader counts the bytes of a connection as they come.
type countingReader struct{ e *edge }

func (r countingReader) Read(b []byte) (int, error) {
	n, err := r.e.conn.Read(b)
	r.e.in.Add(int64(n))
	return n, err
}

// slot is a buffer for a received part, made when it is needed first.
func (e *edge) slot(i, size int) []byte {
	if len(e.slots[i]) < size {
		e.slots[i] = make([]byte, size)
	}
	return e.slots[i]
}

// serve is the reader: it ends when the edge does.
func (e *edge) serve() {
	var f *failure
	if e.en.stream {
		f = e.readStream()
	} else {
		f = e.readFrames()
	}
	if f != nil {
		e.en.fail(f, e)
	}
}

// send writes data, and before the first data of a collective the
// collective's header. False: the edge is broken.
func (e *edge) send(data []byte, sum uint32) bool {
	e.gate <- struct{}{}
	defer func() { <-e.gate }()
	b := e.head[:0]
	if !e.en.stream {
		b = e.appendHeader(b)
		b = append(b, make([]byte, frameSize)...)
		f := frame{kind: frameData, length: uint32(len(data))}
		if !e.en.noSum {
			f.flags, f.sum = flagSum, sum
		}
		f.put(b[len(b)-frameSize:])
	}
	if e.shut {
		return false
	}
	var err error
	e.writing.Store(true)
	if len(data) <= copyLimit {
		b = append(b, data...)
		_, err = e.conn.Write(b)
	} else {
		e.pair = [2][]byte{b, data}
		e.bufs = e.pair[:]
		_, err = e.bufs.WriteTo(e.conn)
		e.pair = [2][]byte{} // the caller's memory is its own again
	}
	e.writing.Store(false)
	e.out.Add(int64(len(data)))
	if err != nil {
		e.breaks()
	}
	return err == nil
}

// appendHeader appends the header of the collective that is under way, once.
func (e *edge) appendHeader(b []byte) []byte {
	c := &e.en.call
	if e.begun == c.id.seq {
		return b
	}
	e.begun = c.id.seq
	return appendFrame(b, frameCall, c.wire)
}

// breaks follows a failed write. Why it failed is for the reader to find out: the
// peer's last words may still be there to read.
func (e *edge) breaks() {
	e.conn.SetReadDeadline(time.Now().Add(faultPatience))
	en := e.en
	en.mu.Lock()
	defer en.mu.Unlock()
	e.broken = true
	if e.parked {
		e.parked = false
		e.wake <- struct{}{}
	}
}

// sendFault tells the peer why this rank gives up. If the edge is in the middle of a
// frame for too long, the end of the stream must do.
func (e *edge) sendFault(f *failure) {
	patience := time.NewTimer(faultPatience)
	defer patience.Stop()
	select {
	case e.gate <- struct{}{}:
	case <-patience.C:
		return
	}
	defer func() { <-e.gate }()
	e.shut = true
	e.conn.SetWriteDeadline(time.Now().Add(faultPatience))
	// What cannot be said is seen: the connection ends anyway.
	_, _ = e.conn.Write(appendFrame(nil, frameFault, f.appendTo(nil)))
}

func (e *edge) close() {
	_ = e.conn.Close() // nothing is expected of it any more
}

// lost is the failure that the edge has ended.
func (e *edge) lost(err error) *failure {
	text := "its connection broke: " + rootOf(err)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		text = "its connection ended"
	}
	return &failure{code: faultLost, by: e.en.rank, rank: e.rank, host: e.host, text: text, err: err}
}

// garbled is the failure that the peer sent what makes no sense.
func (e *edge) garbled(err error) *failure {
	return &failure{
		code: faultGaveUp, by: e.en.rank, rank: e.en.rank,
		text: fmt.Sprintf("from %s: %v", rankAt(e.rank, e.host), err),
		err:  fmt.Errorf("from %s: %w", rankAt(e.rank, e.host), err),
	}
}

// rootOf is the innermost words of a network error, without addresses.
func rootOf(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno.Error()
	}
	return err.Error()
}
