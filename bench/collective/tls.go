// SPDX-License-Identifier: Apache-2.0

package collective

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
)

// keys names the key files of one turn over TLS or with a secret.
type keys struct {
	dir    string
	server *auth.Credentials
	rank   [3]string // certificate, key, authority
	secret string
}

// newSecret writes a random secret for one turn.
func newSecret() (k *keys, err error) {
	dir, err := os.MkdirTemp("", "gvw-bench-")
	if err != nil {
		return nil, fmt.Errorf("cannot draw a secret: %w", err)
	}
	k = &keys{dir: dir, secret: filepath.Join(dir, "secret")}
	b := auth.NewSecretText()
	secret, err := auth.NewSecret(b)
	if err == nil {
		err = os.WriteFile(k.secret, b, 0o600)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot draw a secret: %w", err), k.close())
	}
	k.server = &auth.Credentials{Secret: secret}
	return k, nil
}

// newKeys writes an authority and certificates that are valid for one turn.
func newKeys() (k *keys, err error) {
	dir, err := os.MkdirTemp("", "gvw-bench-")
	if err != nil {
		return nil, fmt.Errorf("cannot make certificates: %w", err)
	}
	k = &keys{dir: dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, k.close())
		}
	}()
	now := time.Now()
	a, err := auth.NewAuthority("gvw bench", now, time.Hour)
	if err != nil {
		return nil, err
	}
	ca, _, err := a.PEM()
	if err != nil {
		return nil, err
	}
	cert, key, err := a.Issue("spanning_tree", []string{"127.0.0.1"}, now, time.Hour)
	if err != nil {
		return nil, err
	}
	server, err := auth.NewTLS(cert, key, ca, now)
	if err != nil {
		return nil, err
	}
	k.server = &auth.Credentials{TLS: server}
	if cert, key, err = a.Issue("rank", nil, now, time.Hour); err != nil {
		return nil, err
	}
	for i, b := range [][]byte{cert, key, ca} {
		k.rank[i] = filepath.Join(dir, []string{"cert", "key", "ca"}[i])
		if err := os.WriteFile(k.rank[i], b, 0o600); err != nil {
			return nil, fmt.Errorf("cannot write a certificate: %w", err)
		}
	}
	return k, nil
}

func (k *keys) close() error { return os.RemoveAll(k.dir) }
