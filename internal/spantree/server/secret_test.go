// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/auth/authtest"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

func secretCreds(t testing.TB, text string) *auth.Credentials {
	t.Helper()
	return &auth.Credentials{Secret: authtest.Secret(t, text)}
}

const (
	goodSecret  = "sixteen bytes and more"
	otherSecret = "another sixteen bytes or more"
)

// refusedWith fails the test unless err is a refusal for the credentials, with these words.
func refusedWith(t *testing.T, err error, words string) {
	t.Helper()
	no, ok := errors.AsType[*protocol.RefusedError](err)
	if !ok || no.Code != protocol.Unauthorised || !strings.Contains(err.Error(), words) {
		t.Errorf("%T %v, want %v with %q", err, err, protocol.Unauthorised, words)
	}
}

// pair joins both ranks of a job, waits until it is wired, and ends it.
func (r *harness) pair(creds *auth.Credentials, id uint64) {
	r.t.Helper()
	var ms [2]*client.Member
	for rank := range ms {
		cfg := r.config(protocol.Job{UniqueID: id}, rank, 2)
		cfg.Credentials = creds
		ms[rank] = r.member(cfg)
	}
	done := make(chan error, 2)
	for _, m := range ms {
		go func() {
			_, err := m.Ready(r.t.Context(), protocol.Shard{})
			if err == nil {
				_, err = m.Complete(r.t.Context(), [32]byte{1}, nil)
			}
			done <- errors.Join(err, m.Finish(r.t.Context()))
		}()
	}
	for range ms {
		if err := <-done; err != nil {
			r.t.Error(err)
		}
	}
}

func TestJobsWithASecret(t *testing.T) {
	creds := secretCreds(t, goodSecret)
	r := serveTCP(t, ServerConfig{Credentials: creds})
	r.pair(creds, 1)
	if _, err := client.Status(t.Context(), nil, r.addr, creds); err != nil {
		t.Error(err)
	}
}

// A client without the secret cannot join, list or cancel jobs.
func TestClientsWithoutTheSecretAreRefused(t *testing.T) {
	t.Parallel()
	creds := secretCreds(t, goodSecret)
	guarded, open := serveTCP(t, ServerConfig{Credentials: creds}), serveTCP(t, ServerConfig{})
	for name, c := range map[string]struct {
		r     *harness
		creds *auth.Credentials
		words string
	}{
		"another secret":   {guarded, secretCreds(t, otherSecret), "the secret is not the server's"},
		"no secret":        {guarded, nil, "it requests a proof of a secret, and this program has none"},
		"an unguarded one": {open, creds, "it requests no proof of the secret of this program"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := c.r.config(protocol.Job{UniqueID: 1}, 0, 2)
			cfg.Credentials = c.creds
			_, err := client.Join(t.Context(), cfg)
			refusedWith(t, err, c.words)
			_, err = client.Status(t.Context(), nil, c.r.addr, c.creds)
			refusedWith(t, err, c.words)
			refusedWith(t, client.Cancel(t.Context(), nil, c.r.addr, c.creds, client.Cancellation{Job: protocol.Job{UniqueID: 1}}), c.words)
			if jobs := c.r.s.Status().Jobs; len(jobs) != 0 {
				t.Errorf("there are jobs: %v", jobs)
			}
		})
	}
}

// A client that sends other frames instead of PROOF is refused with a reason.
func TestFramesWithoutAProofAreRefused(t *testing.T) {
	r := serveTCP(t, ServerConfig{Credentials: secretCreds(t, goodSecret)})
	for _, f := range []protocol.Frame{&protocol.JoinFrame{UniqueID: 1, Total: 2, OptionsSHA256: sum("")}, &protocol.StatusFrame{}, &protocol.CancelFrame{}, &protocol.HeartbeatFrame{}, &protocol.ProofFrame{}} {
		p := r.native()
		p.send(f)
		no, ok := p.frame().(*protocol.RefusedFrame)
		if !ok || no.Code != protocol.Unauthorised {
			t.Errorf("%v: got %v, want REFUSED, %v", protocol.TypeOf(f), no, protocol.Unauthorised)
		}
		p.ends()
	}
}

func TestVWIsRefusedWhereThereIsASecret(t *testing.T) {
	creds := secretCreds(t, goodSecret)
	r := serveTCP(t, ServerConfig{Credentials: creds})
	p := r.vw(1, 2, 0)
	p.reads("00000000")
	p.ends()
	r.logged("AllowVW admits them")

	creds.AllowVW = true
	r = serveTCP(t, ServerConfig{Credentials: creds})
	r.vw(1, 2, 0).reads("01000000")
}

// A client that has a secret refuses vw's own server, and any server that answers as it does.
func TestNoFallBackToVW(t *testing.T) {
	t.Parallel()
	fake := servePlain(t, []byte{0, 0, 0, 0})
	cfg := client.JoinConfig{Server: fake, Total: 2, Credentials: secretCreds(t, goodSecret), DialTimeout: patience}
	_, err := client.Join(t.Context(), cfg)
	refusedWith(t, err, "it cannot authenticate")
	cfg.Credentials.AllowVW = true
	m, err := client.Join(t.Context(), cfg)
	if err != nil || !m.Streams() {
		t.Errorf("with AllowVW: %v", err)
	}
}

// A server without the secret may accept every client, to read what the client sends. The client
// refuses it, since its proof is wrong.
func TestTheServerMustProveItself(t *testing.T) {
	t.Parallel()
	nonce := auth.Nonce()
	welcome, err := protocol.AppendFrame(nil, &protocol.WelcomeFrame{MaxFrame: 65536, Asks: protocol.AsksSecret, Nonce: nonce})
	if err != nil {
		t.Fatal(err)
	}
	proved, err := protocol.AppendFrame(nil, &protocol.AuthOKFrame{})
	if err != nil {
		t.Fatal(err)
	}
	fake := servePlain(t, append(welcome, proved...))
	_, err = client.Join(t.Context(), client.JoinConfig{Server: fake, Total: 2, Credentials: secretCreds(t, goodSecret), DialTimeout: patience})
	refusedWith(t, err, "its own proof is wrong")
}

// Recorded bytes of one connection are refused on another one, in whole or in part.
func TestReplays(t *testing.T) {
	creds := secretCreds(t, goodSecret)
	r := serveTCP(t, ServerConfig{Credentials: creds})
	mitm := between(t, r.addr, nil)
	cfg := r.config(protocol.Job{UniqueID: 1}, 0, 2)
	cfg.Server, cfg.Credentials = mitm.addr(), creds
	m := r.member(cfg)
	said := mitm.up(0)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	r.logged("job closed: no ranks left")
	proof := protocol.HelloSize + protocol.FrameHeader + auth.NonceSize + auth.ProofSize
	if len(said) <= proof {
		t.Fatalf("%d bytes were sent, want more than the %d up to PROOF", len(said), proof)
	}
	for name, b := range map[string][]byte{
		"all of it":         said,
		"up to the proof":   said[:proof],
		"without the proof": append(append([]byte(nil), said[:protocol.HelloSize]...), said[proof:]...),
	} {
		p := r.dial()
		p.write(b)
		if _, ok := p.frame().(*protocol.WelcomeFrame); !ok {
			t.Fatalf("%s: no WELCOME", name)
		}
		if f, err := p.frames.Next(); err == nil {
			if no, ok := f.(*protocol.RefusedFrame); !ok {
				t.Errorf("%s: got %v", name, protocol.TypeOf(f))
			} else if no.Code != protocol.Unauthorised && no.Code != protocol.Malformed {
				t.Errorf("%s: got %v", name, no.Code)
			}
		}
		if jobs := r.s.Status().Jobs; len(jobs) != 0 {
			t.Fatalf("%s: there are jobs: %v", name, jobs)
		}
	}
}

// If any byte of a connection is changed on the way, the other end detects it, and neither end
// hangs.
func TestFlippedBytes(t *testing.T) {
	t.Parallel()
	creds := secretCreds(t, goodSecret)
	r := serveTCP(t, ServerConfig{Credentials: creds, HandshakeTimeout: time.Second})
	const record = 20                                                                     // a seal's header
	welcome := protocol.FrameHeader + 20 + 4 + 1 + auth.NonceSize + protocol.ChecksumSize // of a server without a version
	proof := protocol.HelloSize + protocol.FrameHeader + auth.NonceSize + auth.ProofSize  // where STATUS begins
	proved := welcome + protocol.FrameHeader + auth.ProofSize                             // where JOBS begins
	for at := range proved + record + protocol.FrameHeader {
		if within := at - welcome; within == 5 || within == 6 || within == 7 {
			continue // version and flags of AUTH_OK, which the client ignores: only the proof counts
		}
		testFlip(t, r, creds, false, at)
	}
	for at := range proof + record + protocol.FrameHeader {
		if within := at - protocol.HelloSize; within == 5 || within == 6 || within == 7 {
			continue // version and flags of PROOF
		}
		testFlip(t, r, creds, true, at)
	}
	if jobs := r.s.Status().Jobs; len(jobs) != 0 {
		t.Errorf("there are jobs: %v", jobs)
	}
}

func testFlip(t *testing.T, r *harness, creds *auth.Credentials, up bool, at int) {
	t.Helper()
	mitm := between(t, r.addr, flip(up, at))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s, err := client.Status(ctx, nil, mitm.addr(), creds)
	if err == nil {
		t.Errorf("up %v, byte %d: the answer is %v", up, at, s)
	}
	if ctx.Err() != nil {
		t.Errorf("up %v, byte %d: the change was not detected in time", up, at)
	}
}

// The bytes of two connections of the same client are spliced after the proofs.
func TestSplicedConversations(t *testing.T) {
	t.Parallel()
	creds := secretCreds(t, goodSecret)
	r := serveTCP(t, ServerConfig{Credentials: creds})
	begin := protocol.HelloSize + protocol.FrameHeader + auth.NonceSize + auth.ProofSize
	recorded := between(t, r.addr, nil)
	if _, err := client.Status(t.Context(), nil, recorded.addr(), creds); err != nil {
		t.Fatal(err)
	}
	status := recorded.up(0)[begin:]
	mitm := between(t, r.addr, func(_ int, up bool, offset int, b []byte) []byte {
		if up && offset >= begin {
			return append([]byte(nil), status[:min(len(status), len(b))]...)
		}
		return b
	})
	cfg := r.config(protocol.Job{UniqueID: 1}, 0, 2)
	cfg.Server, cfg.Credentials, cfg.DialTimeout = mitm.addr(), creds, patience
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	joined := make(chan error, 1)
	go func() {
		_, err := client.Join(ctx, cfg)
		joined <- err
	}()
	r.logged("the seal is broken")
	cancel()
	if err := <-joined; err == nil {
		t.Error("the spliced connection continues")
	}
	if jobs := r.s.Status().Jobs; len(jobs) != 0 {
		t.Errorf("there are jobs: %v", jobs)
	}
}

// servePlain answers every hello with the same bytes.
func servePlain(t *testing.T, answer []byte) (addr string) {
	t.Helper()
	r := &relay{}
	l := listenLocal(t)
	r.work.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			r.work.Go(func() {
				defer c.Close()
				_ = c.SetDeadline(time.Now().Add(patience))
				_, _ = c.Write(answer)
				_, _ = io.Copy(io.Discard, c)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		r.work.Wait()
	})
	return l.Addr().String()
}

// A rank of a job that recovers reconnects after a byte from the server was changed, and the job
// finishes.
func TestChangedByteDoesNotEndAJobThatRecovers(t *testing.T) {
	creds := secretCreds(t, goodSecret)
	r := serveTCP(t, ServerConfig{Credentials: creds})
	for _, up := range []bool{true, false} {
		begun := make(chan struct{})
		mitm := between(t, r.addr, func(conn int, is bool, _ int, b []byte) []byte {
			select {
			case <-begun:
				if conn == 0 && is == up {
					b[len(b)-1] ^= 1
				}
			default:
			}
			return b
		})
		var ms [2]*client.Member
		for rank := range ms {
			cfg := r.config(protocol.Job{UniqueID: 1}, rank, 2)
			cfg.Credentials, cfg.OnLoss, cfg.Heartbeat = creds, protocol.Wait, 50*time.Millisecond
			if rank == 0 {
				cfg.Server = mitm.addr()
			}
			ms[rank] = r.member(cfg)
		}
		ready := make(chan error, len(ms))
		for _, m := range ms {
			go func() {
				_, err := m.Ready(t.Context(), protocol.Shard{})
				ready <- err
			}()
		}
		for range ms {
			if err := <-ready; err != nil {
				t.Fatal(err)
			}
		}
		close(begun) // the relay changes a byte from the next heartbeat on
		for end := time.Now().Add(patience); len(mitm.up(1)) == 0; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("the rank has not connected again")
			}
		}
		done := make(chan error, len(ms))
		for _, m := range ms {
			go func() {
				_, err := m.Complete(t.Context(), [32]byte{1}, nil)
				done <- errors.Join(err, m.Finish(t.Context()))
			}()
		}
		for range ms {
			if err := <-done; err != nil {
				t.Errorf("up %v: %v", up, err)
			}
		}
	}
}
