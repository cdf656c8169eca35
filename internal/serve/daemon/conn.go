// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"time"

	"github.com/gvw-project/gvw/internal/serve/engine"
)

// conn is the connection of a client.
type conn struct {
	s    *Server
	nc   net.Conn
	read func() (*buffers, int, error) // waits for bytes without a buffer, then takes one
	part []byte                        // of a line that has arrived only in part
	seen bool                          // bytes have arrived
	text bool                          // a complete line has arrived, and it was no request of HTTP
	near bool                          // the client is on this machine
}

// serve answers lines until the client ends the connection or breaks a rule, or the server ends. All answers have been
// written then, or cannot be.
func (c *conn) serve(ctx context.Context) {
	c.read = c.waiter()
	for {
		b, n, err := c.read()
		if n == 0 {
			if b != nil {
				c.s.buffers.Put(b)
			}
			c.last(ctx, err)
			return
		}
		err = c.process(ctx, b, b.in[:n])
		c.s.buffers.Put(b)
		if ctx.Err() != nil { // the deadline that ends reads may have been replaced
			return
		}
		if err != nil {
			c.dropped(err)
			return
		}
	}
}

// last answers the last line, which need not end in a line feed.
func (c *conn) last(ctx context.Context, err error) {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() == nil:
		c.dropped(fmt.Errorf("%d bytes of a line have arrived, and not the rest within %v", len(c.part), c.s.cfg.Limits.LineTimeout))
	case !errors.Is(err, io.EOF) || len(c.part) == 0: // an unfinished line of a broken connection has no answer
	default:
		b := c.s.buffers.Get().(*buffers)
		defer c.s.buffers.Put(b)
		if err := c.process(ctx, b, newline); err != nil {
			c.dropped(err)
		}
	}
}

var newline = []byte("\n")

// dropped logs why the server closes a connection. It logs nothing if the client has closed it.
func (c *conn) dropped(err error) {
	if _, ok := errors.AsType[*net.OpError](err); ok && !errors.Is(err, os.ErrDeadlineExceeded) {
		return
	}
	c.s.cfg.Log.Warn("connection closed", "from", c.nc.RemoteAddr().String(), "error", err)
}

// process answers the lines that end in the bytes of in, and keeps the rest.
func (c *conn) process(ctx context.Context, b *buffers, in []byte) (err error) {
	b.out = b.out[:0]
	if !c.seen {
		c.seen = true
		switch in[0] {
		case 0:
			return c.refuse(b, errors.New("this is vw's binary format: send text, one example a line"))
		case tlsHandshake:
			return c.refuse(b, errors.New("this is TLS: use gvw serve"))
		}
	}
	e := c.s.cfg.Engine
	for len(in) > 0 {
		end := bytes.IndexByte(in, '\n')
		if most := c.s.cfg.Limits.MaxLine; end < 0 && len(c.part)+len(in) > most || len(c.part)+end > most {
			return c.refuse(b, fmt.Errorf("the line is longer than %d bytes", most))
		}
		if end < 0 {
			if len(c.part) == 0 {
				if err := c.nc.SetReadDeadline(time.Now().Add(c.s.cfg.Limits.LineTimeout)); err != nil {
					return err
				}
			}
			c.part = append(c.part, in...)
			break
		}
		if len(c.part) > 0 {
			if err := c.nc.SetReadDeadline(time.Time{}); err != nil {
				return err
			}
		}
		if !c.text {
			if isHTTP(slices.Concat(c.part, in[:end])) {
				return c.refuse(b, errors.New("this is HTTP: use gvw serve"))
			}
			c.text = true
		}
		if in, err = c.answer(ctx, e, b, in); err != nil {
			return err
		}
		if err := c.write(b); err != nil {
			return err
		}
	}
	return nil
}

// answer appends the answers of complete lines to b.out, until there are maxAnswers bytes, and
// returns the rest of in. The first line begins with c.part.
func (c *conn) answer(ctx context.Context, e *engine.Engine, b *buffers, in []byte) (rest []byte, err error) {
	if err := e.Begin(ctx); err != nil {
		return nil, err
	}
	defer e.End()
	m := e.Acquire()
	defer func() { err = errors.Join(err, m.Release()) }()
	s, err := m.Session(c.s.cfg.Kind)
	if err != nil {
		return nil, err
	}
	defer m.Put(s)
	s.AnyFile = c.near
	for len(b.out) < maxAnswers {
		end := bytes.IndexByte(in, '\n')
		if end < 0 || len(c.part)+end > c.s.cfg.Limits.MaxLine {
			break
		}
		line := in[:end]
		in = in[end+1:]
		if len(c.part) > 0 {
			line = append(c.part, line...)
			c.part = nil
		}
		if b.out, err = s.Answer(ctx, b.out, line); err != nil {
			b.out = appendError(b.out, err)
		}
	}
	return in, nil
}

// tlsHandshake is the first byte of a client of TLS. Text cannot begin with it.
const tlsHandshake = 0x16

// isHTTP reports whether the first line of a connection is that of a request, such as "POST / HTTP/1.1". Any web page can
// make a browser on this machine send one, whose body would be lines. A line of vw's text in which a feature ends
// in HTTP/1.1 is no request: before its namespaces it has no two words of which the second begins with a slash.
func isHTTP(line []byte) bool {
	line = bytes.TrimSuffix(line, []byte("\r"))
	method, rest, _ := bytes.Cut(line, []byte(" "))
	for _, b := range method {
		if b |= 0x20; b < 'a' || b > 'z' {
			return false
		}
	}
	return len(method) > 0 && bytes.HasPrefix(rest, []byte("/")) &&
		(bytes.HasSuffix(rest, []byte(" HTTP/1.1")) || bytes.HasSuffix(rest, []byte(" HTTP/1.0")))
}

// appendError appends the line that answers a line without a prediction.
func appendError(dst []byte, err error) []byte {
	return append(append(append(dst, "error: "...), engine.ErrorText(err)...), '\n')
}

// refuse sends an error after the answers before it. The connection is closed then.
func (c *conn) refuse(b *buffers, err error) error {
	b.out = appendError(b.out, err)
	return errors.Join(err, c.write(b))
}

// write sends the answers.
func (c *conn) write(b *buffers) error {
	if len(b.out) == 0 {
		return nil
	}
	if err := c.nc.SetWriteDeadline(time.Now().Add(c.s.cfg.Limits.WriteTimeout)); err != nil {
		return err
	}
	_, err := c.nc.Write(b.out)
	b.out = b.out[:0]
	if cap(b.out) > 4*maxAnswers {
		b.out = nil
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("the client has not read its answers for %v: %w", c.s.cfg.Limits.WriteTimeout, err)
	}
	return err
}
