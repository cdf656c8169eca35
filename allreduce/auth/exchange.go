// SPDX-License-Identifier: Apache-2.0

package auth

import (
	"crypto/hmac"
	"crypto/rand"
)

// Role is a side of a conversation. A proof of one role is not valid for the other.
type Role string

// The roles: the side that connects, and the side that accepts.
const (
	Client Role = "client"
	Server Role = "server"
)

// Other returns the opposite role.
func (r Role) Other() Role {
	if r == Client {
		return Server
	}
	return Client
}

const (
	// NonceSize is the length of a nonce in bytes.
	NonceSize = 32
	// ProofSize is the length of a proof in bytes.
	ProofSize = 32
)

// Nonce returns new random bytes.
func Nonce() (n [NonceSize]byte) {
	_, _ = rand.Read(n[:]) // it never fails: without randomness it ends the program
	return n
}

// Exchange is one conversation under a key. See the package comment.
type Exchange struct{ key Key }

// Exchange returns the exchange of a conversation with these messages, in this order. Each
// side must have contributed a nonce.
func (k Key) Exchange(messages ...[]byte) Exchange {
	return Exchange{derive(k[:], "exchange", messages...)}
}

// Proof returns the proof of one side that it has the key.
func (x Exchange) Proof(by Role) [ProofSize]byte { return derive(x.key[:], "proof of the "+string(by)) }

// Accepts reports whether proof is that of one side. It takes constant time.
func (x Exchange) Accepts(by Role, proof []byte) bool {
	want := x.Proof(by)
	return hmac.Equal(want[:], proof)
}
