// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"net"
	"testing"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/auth/authtest"
)

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
