// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/auth/authtest"
	"github.com/gvw-project/gvw/allreduce/transport/mem"
	"github.com/gvw-project/gvw/internal/spantree/client"
)

// The end of the context ends an examination at once, however many ranks do not answer.
func TestTheEndOfTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const total, after = 4, time.Second
		network := mem.New().Host("h0")
		l, err := network.Listen(t.Context(), ":26544")
		if err != nil {
			t.Fatal(err)
		}
		e := newExam(Config{Total: total, Network: network}.withDefaults(), l, &client.Wiring{})
		defer e.end()
		for rank := 1; rank < total; rank++ {
			here, there := net.Pipe() // silent
			defer there.Close()
			if err := e.track(here); err != nil {
				t.Fatal(err)
			}
			e.controls <- arrival{rank, here}
		}
		ctx, cancel := context.WithTimeout(t.Context(), after)
		defer cancel()
		began := time.Now()
		e.examine(ctx)
		if took := time.Since(began); took != after {
			t.Errorf("the examination ended after %v, want %v", took, after)
		}
	})
}

// Control connections of ranks that share a secret are sealed, unless they use TLS. Probes are not.
func TestControlConnectionsAreSealed(t *testing.T) {
	secret, tls := authtest.Secret(t, "a"), authtest.Ephemeral(t)
	x := secret.Control().Exchange([]byte("said"))
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	for name, c := range map[string]struct {
		creds   *auth.Credentials
		purpose byte
		want    bool
	}{
		"nothing":       {nil, forControl, false},
		"secret":        {&auth.Credentials{Secret: secret}, forControl, true},
		"encrypted":     {&auth.Credentials{Secret: secret, TLS: tls}, forControl, false},
		"secret, probe": {&auth.Credentials{Secret: secret}, forProbes, false},
	} {
		e := &exam{cfg: Config{Credentials: c.creds}}
		if got := e.seal(near, x, c.purpose, auth.Client) != near; got != c.want {
			t.Errorf("%s: sealed %v, want %v", name, got, c.want)
		}
	}
}
