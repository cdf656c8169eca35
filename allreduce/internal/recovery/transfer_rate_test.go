// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/internal/link"
)

// TestTransfersHaveALeastRate checks that a transfer goes on as long as each part of 256 KiB passes
// within the stall time-out. A slower end ends it at the first part that is late, also if a
// single byte passes in every stall time-out. So a state of n parts takes at most n time-outs.
func TestTransfersHaveALeastRate(t *testing.T) {
	const stall = 20 * time.Second
	state := bytes.Repeat([]byte("state"), 4*partSize/5)
	give := func(c net.Conn) error {
		out := &frameWriter{c: c, patience: stall}
		if _, err := out.Write(state); err != nil {
			return err
		}
		return out.frame(frameEnd, nil)
	}
	take := func(c net.Conn) error {
		got, err := io.ReadAll(&frameReader{c: c, patience: stall, progress: newTransfer()})
		if err == nil && !bytes.Equal(got, state) {
			err = errors.New("other bytes have come")
		}
		return err
	}
	const part = link.FrameSize + partSize
	for _, c := range []struct {
		name string
		run  func(fast net.Conn) error
		slow func(slow net.Conn)
		late bool
	}{
		{"a byte is read", give, func(c net.Conn) { slowReads(c, 1, stall-time.Second) }, true},
		{"a part is read", give, func(c net.Conn) { slowReads(c, part, stall-time.Second) }, false},
		{"a byte is written", take, func(c net.Conn) { slowWrites(c, state, 1, stall-time.Second) }, true},
		{"a part is written", take, func(c net.Conn) { slowWrites(c, state, part, stall-time.Second) }, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			fast, slow := net.Pipe()
			var end sync.WaitGroup
			end.Go(func() { c.slow(slow) })
			began := time.Now()
			err := c.run(fast)
			took := time.Since(began)
			if err := fast.Close(); err != nil {
				t.Error(err)
			}
			end.Wait()
			if err := slow.Close(); err != nil {
				t.Error(err)
			}
			switch {
			case c.late && (!errors.Is(err, os.ErrDeadlineExceeded) || took != stall):
				t.Errorf("%s: got %v after %v, want the end of the transfer after %v", c.name, err, took, stall)
			case !c.late && (err != nil || took > 5*stall):
				t.Errorf("%s: got %v after %v", c.name, err, took)
			}
		})
	}
}

// TestSourceOfAnEagerReader: the other rank closes the connection as soon as it has the last frame. The source must not take
// that for a failure: it would wait for ever for the acknowledgement of a rank that has everything.
func TestSourceOfAnEagerReader(t *testing.T) {
	for name, state := range map[string][]byte{"bytes": []byte("state"), "nothing": nil} {
		here, there := net.Pipe() // without a buffer: a write waits until it is read
		sent := make(chan error, 1)
		go func() {
			out := &frameWriter{c: there, patience: time.Minute}
			_, err := out.Write(state)
			if err == nil {
				err = out.frame(frameEnd, nil)
			}
			sent <- err
		}()
		got, err := io.ReadAll(&frameReader{c: here, patience: time.Minute, progress: newTransfer()})
		if errClose := here.Close(); err != nil || errClose != nil || !bytes.Equal(got, state) {
			t.Errorf("%s: got %q, %v, %v, want %q", name, got, err, errClose, state)
		}
		if err := <-sent; err != nil {
			t.Errorf("%s: the source: %v", name, err)
		}
		if err := there.Close(); err != nil {
			t.Error(err)
		}
	}
}

// slowReads reads some bytes at a time.
func slowReads(c net.Conn, n int, every time.Duration) {
	for b := make([]byte, n); ; time.Sleep(every) {
		if _, err := io.ReadFull(c, b); err != nil {
			return
		}
	}
}

// slowWrites writes the frames of a state, some bytes at a time.
func slowWrites(c net.Conn, state []byte, n int, every time.Duration) {
	var frames bytes.Buffer
	out := &frameWriter{c: bufferConn{w: &frames}, patience: time.Hour}
	_, err := out.Write(state)
	if err == nil {
		err = out.frame(frameEnd, nil)
	}
	for ; err == nil && frames.Len() > 0; time.Sleep(every) {
		_, err = c.Write(frames.Next(n))
	}
}

// bufferConn is a connection to a buffer.
type bufferConn struct {
	net.Conn
	w io.Writer
}

func (b bufferConn) Write(p []byte) (int, error)   { return b.w.Write(p) }
func (b bufferConn) SetDeadline(t time.Time) error { return nil }
