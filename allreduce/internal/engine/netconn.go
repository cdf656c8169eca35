// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bufio"
	"context"
	"sync"
	"time"
)

// copyLimit is up to where data is copied behind its header, to be written at
// once; what is longer is written from where it is.
const copyLimit = 8 << 10

// NetConn is the portable driver: each edge has a goroutine that reads and one that
// writes. Neither ever waits for the other, so ranks that send to each other in
// a ring cannot block.
type NetConn struct {
	En      *Engine
	readers sync.WaitGroup
	writers sync.WaitGroup
}

func (d *NetConn) attach(e *Edge) error {
	e.readable, e.writable = make(chan struct{}, 1), make(chan struct{}, 1)
	if d.En.Stream {
		br := bufio.NewReaderSize(countingReader{e}, readAhead)
		d.readers.Go(func() { d.end(e, e.readStream(br)) })
	} else {
		d.readers.Go(func() { d.end(e, e.readFrames()) })
	}
	d.writers.Go(e.write)
	return nil
}

func (d *NetConn) end(e *Edge, f *Failure) {
	if f != nil {
		d.En.Fail(f, e)
	}
}

// carry waits: the edges' goroutines do the work.
func (d *NetConn) carry(ctx context.Context) {
	select {
	case <-d.En.Call.Done:
	case <-d.En.Failed:
	case <-ctx.Done():
		d.En.giveUp(ctx)
	}
}

func (d *NetConn) nudge(e *Edge) {
	if e.waiting {
		e.waiting = false
		poke(e.readable)
	}
	if e.resting {
		e.resting = false
		poke(e.writable)
	}
	// Who may wait in vain does not wait for long.
	if e.broken {
		e.Conn.SetReadDeadline(time.Now().Add(faultPatience))
	}
	if d.En.Failure != nil {
		e.Conn.SetWriteDeadline(time.Now().Add(faultPatience))
	}
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // it will look anyway
	}
}

func (d *NetConn) attend() {} // the readers do

func (d *NetConn) farewell() { d.writers.Wait() } // bounded by the deadlines of nudge

// Stop closes the connections. It does not wait for the goroutines.
func (d *NetConn) Stop() {
	d.En.Mu.Lock()
	defer d.En.Mu.Unlock()
	for _, e := range d.En.Open {
		_ = e.Conn.Close() // nothing is expected of it any more
	}
}

func (d *NetConn) cut() { d.Stop() }

// Wait waits until all readers and writers have ended.
func (d *NetConn) Wait() {
	d.readers.Wait()
	d.writers.Wait()
}

// readFrames is the reader of an edge of a native job. It returns why it ended,
// or nil when it is all over.
func (e *Edge) readFrames() *Failure {
	var ended error
	for {
		held, f := e.digest()
		switch {
		case f != nil:
			return f
		case held:
			if e.en.over() {
				return nil
			}
			e.await(e.readable)
			continue
		case ended != nil:
			return e.lost(ended)
		}
		var n int
		n, ended = e.Conn.Read(e.space())
		e.filled(n)
	}
}

// await waits until there is something new, or it is all over.
func (e *Edge) await(c <-chan struct{}) {
	select {
	case <-c:
	case <-e.en.Failed:
	}
}

// write is the writer.
func (e *Edge) write() {
	o := &e.outbox
	for {
		ok, over := e.compose()
		switch {
		case over:
			return
		case !ok:
			<-e.writable
			continue
		}
		e.writing.Store(true)
		err := e.put(o.head, o.data)
		e.writing.Store(false)
		e.out.Add(int64(len(o.data))) // signs of life are no progress
		if err != nil {
			e.breaks()
			return
		}
		e.wrote()
	}
}

// put writes a frame.
func (e *Edge) put(head, data []byte) (err error) {
	switch {
	case len(head) == 0:
		_, err = e.Conn.Write(data)
	case len(data) <= copyLimit:
		e.outbox.head = append(head, data...)
		_, err = e.Conn.Write(e.outbox.head)
	default:
		e.outbox.pair = [2][]byte{head, data}
		e.outbox.bufs = e.outbox.pair[:]
		_, err = e.outbox.bufs.WriteTo(e.Conn)
		e.outbox.pair = [2][]byte{}
	}
	return err
}

// countingReader counts the bytes of a connection as they come.
type countingReader struct{ e *Edge }

func (r countingReader) Read(b []byte) (int, error) {
	n, err := r.e.Conn.Read(b)
	r.e.in.Add(int64(n))
	return n, err
}
