// SPDX-License-Identifier: Apache-2.0

package auth

import (
	"fmt"
	"io"
	"net"
)

// Initiate opens a conversation over c. It sends own, receives size bytes and the other
// side's proof, and sends this side's proof. Both own and the received bytes must contain a
// new nonce. It returns the received bytes.
func (k Key) Initiate(c net.Conn, own []byte, size int) (received []byte, x Exchange, err error) {
	if _, err := c.Write(own); err != nil {
		return nil, x, err
	}
	b := make([]byte, size+ProofSize)
	if _, err := io.ReadFull(c, b); err != nil {
		return nil, x, err
	}
	received, proof := b[:size], b[size:]
	x = k.Exchange(own, received, Binding(c))
	if !x.Accepts(Server, proof) {
		return received, Exchange{}, unproven(c)
	}
	mine := x.Proof(Client)
	_, err = c.Write(mine[:])
	return received, x, err
}

// Respond is the accepting side's part of the conversation, after it has received heard.
func (k Key) Respond(c net.Conn, received, own []byte) (Exchange, error) {
	x := k.Exchange(received, own, Binding(c))
	mine := x.Proof(Server)
	if _, err := c.Write(append(own[:len(own):len(own)], mine[:]...)); err != nil {
		return Exchange{}, err
	}
	var proof [ProofSize]byte
	if _, err := io.ReadFull(c, proof[:]); err != nil {
		return Exchange{}, err
	}
	if !x.Accepts(Client, proof[:]) {
		return Exchange{}, unproven(c)
	}
	return x, nil
}

func unproven(c net.Conn) error {
	// unproven returns the error for a wrong proof from the other end of c.
	return &Error{Why: fmt.Sprintf("the peer at %v is not a rank of this epoch of the job: its proof was made with another token or secret, or was changed in transit", c.RemoteAddr())}
}
