// SPDX-License-Identifier: Apache-2.0

package auth

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
)

const (
	// MinSecret and MaxSecret are the limits of a secret's length in bytes.
	MinSecret = 16
	MaxSecret = 4096
)

// Secret is the secret that all participants share. Printing or logging it does not
// reveal it.
type Secret struct{ key Key }

// String returns a placeholder.
func (*Secret) String() string { return "(secret)" }

// GoString returns a placeholder.
func (s *Secret) GoString() string { return s.String() }

// NewSecret makes a secret of b. White space at the end is ignored, because editors
// and echo add it.
func NewSecret(b []byte) (*Secret, error) {
	b = bytes.TrimRight(b, " \t\r\n")
	switch {
	case len(b) < MinSecret:
		return nil, &Error{Why: fmt.Sprintf("a secret of %d bytes can be guessed: use at least %d random bytes (gvw keygen generates a secret)", len(b), MinSecret)}
	case len(b) > MaxSecret:
		return nil, &Error{Why: fmt.Sprintf("the secret has more than %d bytes: check that this is the right file", MaxSecret)}
	}
	return &Secret{derive(b, "secret")}, nil
}

// NewSecretText returns a new random secret as text.
func NewSecretText() []byte {
	var b [32]byte
	_, _ = rand.Read(b[:]) // it never fails: without randomness it ends the program
	return fmt.Appendf(nil, "%x", b)
}

// ReadSecret reads a secret from a file that only its owner can read.
func ReadSecret(path string) (*Secret, error) {
	s, _, err := ReadSecretBytes(path)
	return s, err
}

// ReadSecretBytes is ReadSecret for a caller that passes the secret on. It returns the bytes, too.
func ReadSecretBytes(path string) (*Secret, []byte, error) {
	b, err := readPrivate(path, "secret", MaxSecret)
	if err != nil {
		return nil, nil, err
	}
	s, err := NewSecret(b)
	if err != nil {
		return nil, nil, &Error{File: path, Why: err.Error()}
	}
	return s, b, nil
}

// readPrivate reads a small file that others must not be able to read or write: see permitted.
func readPrivate(path, what string, limit int) (b []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the %s: %w", what, err)
	}
	defer f.Close() // nothing was written
	// Stat the open file: the file behind the name could change in between.
	fi, err := f.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot read the %s: %w", what, err)
	case fi.IsDir():
		return nil, &Error{File: path, Why: "it is a directory: want a file with the " + what}
	case runtime.GOOS != "windows" && fi.Mode().IsRegular() && !permitted(fi.Mode().Perm(), rootOwned(fi) && os.Geteuid() != 0):
		return nil, &Error{File: path, Why: fmt.Sprintf("others can read or change the %s (mode %04o): run chmod 600 on it, and replace it if others may have read it", what, fi.Mode().Perm())}
	}
	b, err = io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read the %s: %w", what, err)
	}
	return b, nil
}

// permitted reports whether a file with the mode may hold a secret. The group may read a file that root has handed to this
// process, which is another user's: Kubernetes mounts a Secret so for a container that is not root. libpq has the same rule.
func permitted(mode fs.FileMode, handed bool) bool {
	if handed {
		return mode&0o037 == 0
	}
	return mode&0o077 == 0
}

// Key is a key for one purpose, derived from the secret.
type Key [sha256.Size]byte

// Control returns the key for connections to the server.
func (s *Secret) Control() Key { return derive(s.key[:], "control") }

// Claim returns the key with which a client proves that a job is its own.
func (s *Secret) Claim() Key { return derive(s.key[:], "claim") }

// Scope identifies the epoch to which a key belongs.
type Scope struct {
	UniqueID    uint64
	RunKey      string
	Term, N     uint32 // of the server, and of the epoch
	Incarnation uint64
	Token       [16]byte // random, from the server
}

// Epoch returns the key for the connections between the ranks of one epoch of one job. It
// depends on the token and, if there is one, on the secret. s may be nil: then only the
// token protects the epoch, and not against eavesdroppers.
func (s *Secret) Epoch(e Scope) Key {
	var base Key
	if s != nil {
		base = s.key
	}
	le := binary.LittleEndian
	numbers := le.AppendUint64(nil, e.UniqueID)
	numbers = le.AppendUint32(numbers, e.Term)
	numbers = le.AppendUint32(numbers, e.N)
	numbers = le.AppendUint64(numbers, e.Incarnation)
	return derive(base[:], "epoch", []byte(e.RunKey), numbers, e.Token[:])
}

// derive derives a key or a proof from key, by HMAC-SHA-256. Each part is preceded by its
// length, so that no two lists of parts yield the same bytes.
func derive(key []byte, label string, parts ...[]byte) (out Key) {
	m := hmac.New(sha256.New, key)
	var n [4]byte
	put := func(b []byte) {
		binary.LittleEndian.PutUint32(n[:], uint32(len(b)))
		m.Write(n[:])
		m.Write(b)
	}
	put([]byte("gvw 1 " + label))
	for _, p := range parts {
		put(p)
	}
	m.Sum(out[:0])
	return out
}
