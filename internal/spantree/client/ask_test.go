// SPDX-License-Identifier: Apache-2.0

package client

import (
	"encoding/hex"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/allreduce/auth/authtest"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Status returns the list of the server's jobs, or an error that names the fault.
func TestStatus(t *testing.T) {
	for name, c := range map[string]struct {
		answer protocol.Frame // nil: the server closes the connection
		want   *protocol.ServerStatus
		code   protocol.Code // of the refusal; 0: none
	}{
		"jobs":         {answer: &protocol.JobsFrame{JSON: `{"version":"v9","jobs":[]}`}, want: &protocol.ServerStatus{Version: "v9", Jobs: []protocol.JobStatus{}}},
		"a refusal":    {answer: &protocol.RefusedFrame{Code: protocol.ServerFull, Reason: "memory"}, code: protocol.ServerFull},
		"no JSON":      {answer: &protocol.JobsFrame{JSON: "{"}},
		"no jobs":      {answer: &protocol.FinishedFrame{}},
		"no answer":    {},
		"another type": {answer: &protocol.JobsFrame{JSON: `[]`}},
	} {
		t.Run(name, func(t *testing.T) {
			scripted(t, func(t *testing.T, s *scriptedServer) {
				status := background(func() (*protocol.ServerStatus, error) {
					return Status(t.Context(), s.network.Host("h1"), "gateway:26543", nil)
				})
				conn := s.accept()
				receive[*protocol.StatusFrame](conn)
				if c.answer != nil {
					conn.send(c.answer)
				}
				_ = conn.conn.Close()
				got, err := status()
				no, refused := errors.AsType[*protocol.RefusedError](err)
				_, failed := errors.AsType[*protocol.ServerError](err)
				switch {
				case c.want != nil:
					if d := cmp.Diff(c.want, got); d != "" || err != nil {
						t.Errorf("%v, -want +got:\n%s", err, d)
					}
				case c.code != 0 && (!refused || no.Code != c.code):
					t.Errorf("%v, want a refusal with code %v", err, c.code)
				case c.code == 0 && !failed:
					t.Errorf("%v, want a *ServerError", err)
				}
			})
		})
	}
}

// A request of a server that never answers ends after attemptTimeout.
func TestRequestOfASilentServer(t *testing.T) {
	scripted(t, func(t *testing.T, s *scriptedServer) {
		status := background(func() (*protocol.ServerStatus, error) {
			return Status(t.Context(), s.network.Host("h1"), "gateway:26543", nil)
		})
		s.accept()
		_, err := status()
		if _, is := errors.AsType[*protocol.ServerError](err); !is {
			t.Errorf("%v, want a *ServerError", err)
		}
	})
}

// CANCEL names the job and carries the claim of its owner, whose digest is that of JOIN.
func TestCancel(t *testing.T) {
	owner := authtest.Secret(t, "mine")
	scripted(t, func(t *testing.T, s *scriptedServer) {
		for name, c := range map[string]struct {
			answer protocol.Frame
			code   protocol.Code // of the refusal; 0: none
		}{
			"cancelled":  {answer: &protocol.FinishedFrame{}},
			"not found":  {answer: &protocol.RefusedFrame{Code: protocol.NoSuchJob}, code: protocol.NoSuchJob},
			"wrong type": {answer: &protocol.JobsFrame{JSON: "{}"}},
		} {
			cancel := failing(func() error {
				return Cancel(t.Context(), s.network.Host("h1"), "gateway:26543", nil, Cancellation{Job: protocol.Job{UniqueID: 7, RunKey: "run"}, Reason: "too slow", Owner: owner})
			})
			conn := s.accept()
			want := &protocol.CancelFrame{UniqueID: 7, RunKey: "run", Reason: "too slow"}
			copy(want.Claim[:], claim(owner))
			if d := cmp.Diff(want, receive[*protocol.CancelFrame](conn)); d != "" {
				t.Errorf("%s: CANCEL, -want +got:\n%s", name, d)
			}
			conn.send(c.answer)
			err := cancel()
			no, refused := errors.AsType[*protocol.RefusedError](err)
			if (err == nil) != (name == "cancelled") || c.code != 0 && (!refused || no.Code != c.code) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// The registration of a vw worker has the bytes of vw's protocol.
func TestRegistrationAtVWsServer(t *testing.T) {
	for name, c := range map[string]struct {
		ok, kids, parent string // bytes of the server, in hex
		want             Wiring
		fails            bool
	}{
		"a leaf":       {ok: "01000000", kids: "0000", parent: "0a0000020400", want: Wiring{Stream: true, Parent: "10.0.0.2:1024"}},
		"an inner one": {ok: "01000000", kids: "0200", parent: "0a000002ffff", want: Wiring{Stream: true, Kids: 2, Parent: "10.0.0.2:65535"}},
		"the root":     {ok: "01000000", kids: "0100", parent: "ffffffffffffffff", want: Wiring{Stream: true, Kids: 1}},
		"a short root": {ok: "01000000", kids: "0100", parent: "ffffffffffff", want: Wiring{Stream: true, Kids: 1}},
		"refused":      {ok: "00000000", fails: true},
		"3 children":   {ok: "01000000", kids: "0300", fails: true},
		"no parent":    {ok: "01000000", kids: "0000", parent: "0a00", fails: true},
		"no answer":    {fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			scripted(t, func(t *testing.T, s *scriptedServer) {
				cfg := s.config().withDefaults()
				cfg.Advertise = ":258"
				m := &Member{cfg: cfg, vwServer: true}
				ready := background(func() (*Wiring, error) { return m.Ready(t.Context(), protocol.Shard{}) })
				far, err := s.listener.Accept()
				if err != nil {
					t.Fatal(err)
				}
				hello := make([]byte, 24)
				if _, err := io.ReadFull(far, hello); err != nil {
					t.Fatal(err)
				}
				if text := hex.EncodeToString(hello); text != "0700000000000000"+"0300000000000000"+"0100000000000000" {
					t.Errorf("the registration is %s", text)
				}
				answer := func(text string) {
					b, err := hex.DecodeString(text)
					if err != nil {
						t.Fatal(err)
					}
					if _, err := far.Write(b); err != nil && !c.fails {
						t.Error(err)
					}
				}
				answer(c.ok)
				answer(c.kids)
				if c.parent != "" {
					port := make([]byte, 2)
					if _, err := io.ReadFull(far, port); err != nil || hex.EncodeToString(port) != "0102" {
						t.Errorf("the port is % x, %v", port, err)
					}
					answer(c.parent)
				}
				_ = far.Close()
				got, err := ready()
				if (err != nil) != c.fails {
					t.Fatal(err)
				}
				if c.fails {
					return
				}
				if d := cmp.Diff(&c.want, got, cmp.AllowUnexported(protocol.MemberList{})); d != "" {
					t.Errorf("-want +got:\n%s", d)
				}
			})
		})
	}
}
