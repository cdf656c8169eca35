// SPDX-License-Identifier: Apache-2.0

package mesh

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/auth/authtest"
	"github.com/gvw-project/gvw/internal/members"
	"github.com/gvw-project/gvw/internal/spantree/client"
)

// TestPullAndServe checks that a transfer carries bytes both ways, with and without a secret.
func TestPullAndServe(t *testing.T) {
	for name, creds := range map[string]*auth.Credentials{"no secret": nil, "a secret": {Secret: authtest.Secret(t, "a")}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cl := newCluster(t, 2, members.All(2), creds, nil)
				cl.begin(nil)
				cl.ranks[0].serve = func(c net.Conn, from int, w *client.Wiring) error {
					if from != 1 || w != cl.wiring {
						t.Errorf("served rank %d, wiring %+v", from, w)
					}
					_, err := io.CopyN(c, c, 4)
					return err
				}
				got := make([]byte, 4)
				err := cl.ranks[1].Pull(t.Context(), cl.wiring, 0, cl.wiring.Address(0), func(c net.Conn) error {
					if _, err := c.Write([]byte("want")); err != nil {
						return err
					}
					if _, err := io.ReadFull(c, got); err != nil {
						return err
					}
					if _, err := c.Read(make([]byte, 1)); err == nil {
						return errors.New("the connection is open after Serve")
					}
					return nil
				})
				if err != nil || string(got) != "want" {
					t.Errorf("got %q, %v", got, err)
				}
			})
		})
	}
}

// TestServeThatIsNotYetDue checks that ErrNotYet is not logged, in contrast to other errors.
func TestServeThatIsNotYetDue(t *testing.T) {
	for _, err := range []error{ErrNotYet, errors.New("the disk is full")} {
		synctest.Test(t, func(t *testing.T) {
			cl := newCluster(t, 2, members.All(2), nil, nil)
			cl.begin(nil)
			cl.ranks[0].serve = func(net.Conn, int, *client.Wiring) error { return err }
			pulled := cl.ranks[1].Pull(t.Context(), cl.wiring, 0, cl.wiring.Address(0), func(c net.Conn) error {
				_, err := c.Read(make([]byte, 1))
				return err
			})
			synctest.Wait()
			if logged := strings.Contains(cl.ranks[0].log.String(), err.Error()); logged != (err != ErrNotYet) || pulled != io.EOF {
				t.Errorf("%v: logged %v, the other rank got %v", err, logged, pulled)
			}
		})
	}
}

// TestPullIsInterrupted checks that the end of the context ends a read of a silent source.
func TestPullIsInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cl := newCluster(t, 2, members.All(2), nil, nil)
		cl.begin(nil)
		cl.ranks[0].serve = func(c net.Conn, _ int, _ *client.Wiring) error {
			_, err := c.Read(make([]byte, 1))
			return err
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		began := time.Now()
		err := cl.ranks[1].Pull(ctx, cl.wiring, 0, cl.wiring.Address(0), func(c net.Conn) error {
			if err := c.SetDeadline(time.Time{}); err != nil {
				return err
			}
			_, err := c.Read(make([]byte, 1))
			return err
		})
		if took := time.Since(began); err == nil || took != 3*time.Second {
			t.Errorf("got %v after %v, want an error after 3s", err, took)
		}
	})
}

// TestInterruptsBetweenMessages checks that the end of the context of a Pull, and Close of the mesh that
// serves it, also interrupt a transfer whose deadline is moved after that, as before each message.
func TestInterruptsBetweenMessages(t *testing.T) {
	read := func(c net.Conn, interrupt func()) error {
		interrupt()
		synctest.Wait()
		began := time.Now()
		if err := c.SetDeadline(began.Add(time.Minute)); err != nil {
			return err
		}
		if n, err := c.Read(make([]byte, 1)); err == nil || time.Since(began) > 0 {
			t.Errorf("got %d bytes, %v after %v, want an error at once", n, err, time.Since(began))
		}
		return nil
	}
	for name, creds := range map[string]*auth.Credentials{"no secret": nil, "a secret": {Secret: authtest.Secret(t, "a")}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cl := newCluster(t, 2, members.All(2), creds, nil)
				cl.begin(nil)
				cl.ranks[0].serve = func(c net.Conn, _ int, _ *client.Wiring) error {
					_, err := c.Read(make([]byte, 1))
					return err
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if err := cl.ranks[1].Pull(ctx, cl.wiring, 0, cl.wiring.Address(0), func(c net.Conn) error { return read(c, cancel) }); err != nil {
					t.Error(err)
				}
				closed := make(chan struct{})
				cl.ranks[0].serve = func(c net.Conn, _ int, _ *client.Wiring) error {
					return read(c, func() {
						go func() {
							cl.ranks[0].Close()
							close(closed)
						}()
					})
				}
				if err := cl.ranks[1].Pull(t.Context(), cl.wiring, 0, cl.wiring.Address(0), func(c net.Conn) error {
					_, err := c.Read(make([]byte, 1))
					return err
				}); err == nil {
					t.Error("a source whose mesh is closed has sent a byte")
				}
				<-closed
			})
		})
	}
}

// TestPullChecksTheSource checks that a rank does not take from another one at the address of
// its source, and not from one of another epoch.
func TestPullChecksTheSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cl := newCluster(t, 3, members.All(3), nil, nil)
		cl.begin(nil)
		take := func(net.Conn) error {
			t.Error("the connection was used")
			return nil
		}
		if err := cl.ranks[1].Pull(t.Context(), cl.wiring, 0, cl.wiring.Address(2), take); err == nil {
			t.Error("rank 2 answers as rank 0: got no error")
		}
		other := *cl.wiring
		other.Token[0]++
		if err := cl.ranks[1].Pull(t.Context(), &other, 0, cl.wiring.Address(0), take); err == nil {
			t.Error("another token: got no error")
		}
	})
}

// FuzzAcceptHandshake sends anything to an acceptor. Without the key of the epoch nothing
// becomes a connection, and the acceptor ends within its time-outs.
func FuzzAcceptHandshake(f *testing.F) {
	creds := &auth.Credentials{Secret: authtest.Secret(f, "a")}
	proof := make([]byte, auth.ProofSize)
	f.Add(append(newHello(testEpoch, 0, 1, 3, false), proof...))
	f.Add(append(newHello(testEpoch, 0, 1, 3, true), proof...))
	f.Add(append(newHello(testEpoch, 2, 1, 3, false), 1, 2, 3))
	f.Add([]byte("gvwdata\x06"))
	f.Fuzz(func(t *testing.T, b []byte) {
		synctest.Test(t, func(t *testing.T) {
			cl := newCluster(t, 3, members.All(3), creds, nil)
			r := cl.ranks[1]
			r.serve = func(net.Conn, int, *client.Wiring) error {
				t.Error("a transfer was served")
				return nil
			}
			r.epoch = r.Epoch(EpochConfig{Wiring: cl.wiring, Members: cl.live, Tree: places{parent: -1, left: 0, right: 2}, Self: 1, Over: cl.over})
			r.now = cl.wiring
			defer r.epoch.End()
			here, there := net.Pipe()
			defer here.Close()
			go func() {
				_, _ = io.Copy(here, bytes.NewReader(b)) // the acceptor may have closed it
			}()
			go func() { _, _ = io.Copy(io.Discard, here) }()
			began := time.Now()
			err := r.acceptHandshake(there, func() bool { return true })
			there.Close()
			if took := time.Since(began); err == nil || len(r.epoch.conns) > 0 || took > handshakeTimeout+proofTimeout {
				t.Errorf("got %v after %v, %d connections", err, took, len(r.epoch.conns))
			}
		})
	})
}

// TestLateProof: a dialler takes the connection for open as soon as it has sent its proof. So the acceptor waits for it longer
// than the dialler's handshake may take, but not for ever.
func TestLateProof(t *testing.T) {
	creds := &auth.Credentials{Secret: authtest.Secret(t, "a")}
	for _, c := range []struct {
		after time.Duration
		opens bool
	}{
		{handshakeTimeout - time.Millisecond, true},
		{handshakeTimeout + time.Second, true},
		{proofTimeout - time.Millisecond, true},
		{proofTimeout + time.Millisecond, false},
	} {
		t.Run(c.after.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cl := newCluster(t, 2, members.All(2), creds, nil)
				cl.begin(nil)
				bare, err := cl.net.Host("h0").Dial(t.Context(), cl.wiring.Address(1))
				if err != nil {
					t.Fatal(err)
				}
				defer bare.Close()
				began := time.Now()
				from := cl.ranks[0].epoch
				late := &lateConn{Conn: bare, after: c.after}
				if _, _, err := from.key.Initiate(late, from.hello(1), helloSize); err != nil && c.opens {
					t.Fatalf("the dialler's handshake: %v", err)
				}
				synctest.Wait()
				r := cl.ranks[1]
				if _, opened := r.epoch.conns[0]; opened != c.opens {
					t.Errorf("after %v: open is %v, want %v; log: %s", time.Since(began), opened, c.opens, r.log.String())
				}
				if !c.opens && !strings.Contains(r.log.String(), "i/o timeout") {
					t.Errorf("the log does not name the time-out:\n%s", r.log.String())
				}
			})
		})
	}
}

// lateConn delays its second message.
type lateConn struct {
	net.Conn
	after time.Duration
	wrote int
}

func (c *lateConn) Write(b []byte) (int, error) {
	if c.wrote++; c.wrote == 2 {
		time.Sleep(c.after)
	}
	return c.Conn.Write(b)
}
