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
	"os"
	"runtime"
)

const (
	// MinSecret and MaxSecret are the bytes that a secret may have.
	MinSecret = 16
	MaxSecret = 4096
)

// Secret is what all who may take part share. It never shows itself: printed or
// logged it is a word.
type Secret struct{ key Key }

// String is not the secret.
func (*Secret) String() string { return "(secret)" }

// GoString is not the secret either.
func (s *Secret) GoString() string { return s.String() }

// NewSecret makes a secret of bytes. White space at the end does not count: editors
// and echo put it there.
func NewSecret(b []byte) (*Secret, error) {
	b = bytes.TrimRight(b, " \t\r\n")
	switch {
	case len(b) < MinSecret:
		return nil, &Error{Why: fmt.Sprintf("a secret of %d bytes can be guessed: at least %d are needed, and they should be drawn (gvw keygen --secret FILE makes one)", len(b), MinSecret)}
	case len(b) > MaxSecret:
		return nil, &Error{Why: fmt.Sprintf("a secret of more than %d bytes: is it the right file?", MaxSecret)}
	}
	return &Secret{derive(b, "secret")}, nil
}

// Draw draws the bytes of a secret, as text.
func Draw() []byte {
	var b [32]byte
	_, _ = rand.Read(b[:]) // it does not fail: it ends the program where there is no randomness
	return fmt.Appendf(nil, "%x", b)
}

// ReadSecret reads a secret from a file that its owner alone can read.
func ReadSecret(path string) (*Secret, error) {
	s, _, err := ReadSecretBytes(path)
	return s, err
}

// ReadSecretBytes is ReadSecret for who hands the secret on.
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

// readPrivate reads a small file that must not be open to others.
func readPrivate(path, what string, limit int) (b []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the %s: %w", what, err)
	}
	defer f.Close() // it was read
	// Of the open file: what the name stands for could change in between.
	fi, err := f.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot read the %s: %w", what, err)
	case fi.IsDir():
		return nil, &Error{File: path, Why: "it is a folder, where the " + what + " should be"}
	case runtime.GOOS != "windows" && fi.Mode().IsRegular() && fi.Mode().Perm()&0o077 != 0:
		return nil, &Error{File: path, Why: fmt.Sprintf("the %s can be read or changed by others (mode %04o): chmod 600 it, and draw a new one if others have read it", what, fi.Mode().Perm())}
	}
	b, err = io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read the %s: %w", what, err)
	}
	return b, nil
}

// Key is a key for one purpose.
type Key [sha256.Size]byte

// Control is the key for connections to the server.
func (s *Secret) Control() Key { return derive(s.key[:], "control") }

// Claim shows whose a job is.
func (s *Secret) Claim() Key { return derive(s.key[:], "claim") }

// Scope says to what the key of an epoch belongs.
type Scope struct {
	UniqueID    uint64
	RunKey      string
	Term, N     uint32
	Incarnation uint64
	Token       [16]byte // that the server has drawn for the epoch
}

// Epoch is the key for the connections between the ranks of one epoch of one job. It
// takes the token and, if there is one, the secret. s may be nil: then the token
// alone keeps others out, as far as nobody listens.
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

// derive makes a key, or a proof, of another key. Lengths are in it, so that no two
// lists of parts look the same.
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
