// SPDX-License-Identifier: Apache-2.0

package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth/authtest"
	"github.com/gvw-project/gvw/allreduce/transport/mem"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// TestBeyondVW checks that a configuration that vw's own server does not support ends in a refusal
// after a second attempt, and never as a vw worker.
func TestBeyondVW(t *testing.T) {
	for want, change := range map[string]func(*JoinConfig){
		"OnLoss=wait": func(c *JoinConfig) { c.OnLoss = protocol.Wait },
		"the run ID":  func(c *JoinConfig) { c.Job.RunKey = "run" },
		"Owner":       func(c *JoinConfig) { c.Owner = authtest.Secret(t, "mine") },
		"a spare":     func(c *JoinConfig) { c.OnLoss, c.Spare = protocol.Wait, true },
		"Elastic":     func(c *JoinConfig) { c.OnLoss, c.Job.RunKey, c.Elastic = protocol.Shrink, "run", time.Minute },
		"nothing":     func(*JoinConfig) {},
	} {
		synctest.Test(t, func(t *testing.T) {
			n := mem.New()
			answerVW(t, n)
			cfg := JoinConfig{Network: n.Host("h0"), Server: "gateway:26543", Job: protocol.Job{UniqueID: 1}, Total: 2, Advertise: ":30000"}
			change(&cfg)
			began := time.Now()
			m, err := Join(t.Context(), cfg)
			switch took := time.Since(began); {
			case want == "nothing" && (err != nil || !m.Streams() || took < dialPause):
				t.Errorf("got %v after %v, want a vw worker after two answers", err, took)
			case want == "nothing":
			case err == nil:
				t.Errorf("%s: a vw worker", want)
			default:
				no, is := errors.AsType[*protocol.RefusedError](err)
				if !is {
					t.Fatalf("%s: %v, want a refusal", want, err)
				}
				if no.Code != protocol.VersionDiffers || took < confirmOver || took > 2*confirmOver || (want != "Elastic" && !strings.Contains(no.Reason, want)) {
					t.Errorf("%s: %v after %v", want, err, took)
				}
			}
		})
	}
}

// answerVW answers each hello as vw's own server does.
func answerVW(t *testing.T, n *mem.Network) {
	t.Helper()
	l, err := n.Host("gateway").Listen(t.Context(), ":26543")
	if err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	work.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte{0, 0, 0, 0})
			_, _ = io.Copy(io.Discard, c)
			_ = c.Close()
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		work.Wait()
	})
}

// TestRefusalsHold checks that an authentic refusal ends the attempts at once, and another one when
// it has been repeated in a row.
func TestRefusalsHold(t *testing.T) {
	no := func(code protocol.Code, doubtful bool) error {
		return &protocol.RefusedError{Code: code, Unauthenticated: doubtful}
	}
	ours := &protocol.RefusedError{ByClient: true, Code: protocol.Unauthorised, Unauthenticated: true}
	doubt, away := no(protocol.Unauthorised, true), errors.New("connection refused")
	for name, c := range map[string]struct {
		ends []error // ends of the attempts, one per second
		want int     // the last attempt; 0: none
	}{
		"authentic":                  {[]error{no(protocol.OptionsDiffer, false)}, 1},
		"doubtful":                   {[]error{doubt, doubt, doubt, doubt, doubt}, 4},
		"doubtful, then authentic":   {[]error{doubt, no(protocol.OptionsDiffer, false)}, 2},
		"away in between":            {[]error{doubt, doubt, away, doubt, doubt, doubt, doubt}, 7},
		"another code in between":    {[]error{doubt, doubt, no(protocol.Malformed, true), doubt, doubt, doubt}, 0},
		"from both sides":            {[]error{doubt, doubt, ours, doubt, doubt, ours}, 0},
		"away":                       {[]error{away, away, away, away, away}, 0},
		"vw's answer once":           {[]error{errVWServer, away, errVWServer, doubt}, 0},
		"vw's answer twice in a row": {[]error{errVWServer, away, errVWServer, errVWServer}, 4},
	} {
		a := newAttempts(JoinConfig{}.withDefaults())
		got := 0
		for i, err := range c.ends {
			if a.final(err, time.Unix(int64(i), 0)) {
				got = i + 1
				break
			}
		}
		if got != c.want {
			t.Errorf("%s: final after %d attempts, want %d", name, got, c.want)
		}
	}
}

// TestForgedRefusalsThatNeverAgree checks that a rank whose attempts end by different refusals
// continues until its deadline. The error then names the last refusal, and is none.
func TestForgedRefusalsThatNeverAgree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		cfg := JoinConfig{Server: "gateway:26543", Log: slog.New(slog.NewTextHandler(&log, nil))}.withDefaults()
		made, began := 0, time.Now()
		err := retry(t.Context(), cfg, func(context.Context) error {
			made++
			return &protocol.RefusedError{ByClient: made%2 == 0, Server: cfg.Server, Code: protocol.Unauthorised, Reason: "forged", Unauthenticated: true}
		})
		away, is := errors.AsType[*protocol.ServerError](err)
		if !is {
			t.Fatalf("got %v, want a *ServerError", err)
		}
		if _, is := errors.AsType[*protocol.RefusedError](err); is || !strings.Contains(away.Error(), "forged") {
			t.Errorf("got %v, want a *ServerError that names the last refusal and is none", err)
		}
		if took := time.Since(began); took < cfg.DialTimeout || took > cfg.DialTimeout+maxPause {
			t.Errorf("it took %v, want %v", took, cfg.DialTimeout)
		}
		if lines := strings.Count(log.String(), "not authenticated: trying again"); lines != 2 {
			t.Errorf("the log has %d lines of refusals, want one of each kind:\n%s", lines, &log)
		}
	})
}
