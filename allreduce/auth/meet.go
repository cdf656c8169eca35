// SPDX-License-Identifier: Apache-2.0

package auth

import (
	"fmt"
	"io"
	"net"
)

// Greet opens a conversation over c: it sends what this side says, hears size bytes
// and the other side's proof, and shows this side's. own must have a nonce in it that
// was drawn for this conversation, and so must what is heard.
func (k Key) Greet(c net.Conn, own []byte, size int) (heard []byte, x Exchange, err error) {
	if _, err := c.Write(own); err != nil {
		return nil, x, err
	}
	b := make([]byte, size+ProofSize)
	if _, err := io.ReadFull(c, b); err != nil {
		return nil, x, err
	}
	heard, proof := b[:size], b[size:]
	x = k.Exchange(own, heard, Binding(c))
	if !x.Accepts(Server, proof) {
		return heard, Exchange{}, unproven(c)
	}
	mine := x.Proof(Client)
	_, err = c.Write(mine[:])
	return heard, x, err
}

// Answer is the other side's Greet, for who has heard something.
func (k Key) Answer(c net.Conn, heard, own []byte) (Exchange, error) {
	x := k.Exchange(heard, own, Binding(c))
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
	return &Error{Why: fmt.Sprintf("who speaks from %v is no rank of this epoch of the job: the proof is of another token or secret, or was changed on its way", c.RemoteAddr())}
}
