// SPDX-License-Identifier: Apache-2.0

package auth

import (
	"crypto/hmac"
	"crypto/rand"
)

// Role is a side of a conversation. A proof of one is none of the other.
type Role string

// The roles: who connects, and who is connected to.
const (
	Client Role = "client"
	Server Role = "server"
)

// Other is the far side.
func (r Role) Other() Role {
	if r == Client {
		return Server
	}
	return Client
}

const (
	// NonceSize is the length of what each side draws for a conversation.
	NonceSize = 32
	// ProofSize is the length of a proof.
	ProofSize = 32
)

// Nonce draws what nobody has said before.
func Nonce() (n [NonceSize]byte) {
	_, _ = rand.Read(n[:]) // it does not fail: it ends the program where there is no randomness
	return n
}

// Exchange is one conversation under a key.
type Exchange struct{ key Key }

// Exchange begins a conversation in which this was said, in this order. Both
// sides must have drawn some of it.
func (k Key) Exchange(said ...[]byte) Exchange { return Exchange{derive(k[:], "exchange", said...)} }

// Proof shows that one side has the key.
func (x Exchange) Proof(by Role) [ProofSize]byte { return derive(x.key[:], "proof of the "+string(by)) }

// Accepts reports whether a proof is that of one side. How long it takes does not
// depend on the proof.
func (x Exchange) Accepts(by Role, proof []byte) bool {
	want := x.Proof(by)
	return hmac.Equal(want[:], proof)
}
