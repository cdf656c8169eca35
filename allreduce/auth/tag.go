// SPDX-License-Identifier: Apache-2.0

package auth

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// TagSize is the length of a tag in bytes.
const TagSize = 16

// tagKey is the length of a direction's key in bytes: AES-256.
const tagKey = 32

// Tags computes or checks the tags of one direction of a conversation, one per message
// and in their order. A tag is the AES-GMAC of the message: AES-GCM with the message as
// additional data and an empty plaintext. Its nonce contains the message's number.
// A message that is changed, repeated, omitted, moved or taken from another conversation
// therefore has another tag.
//
// Tags are for messages that are too long for [Exchange.Seal], which copies them, and whose
// HMAC takes several times as long. Tags are not safe for concurrent use.
type Tags struct {
	aead   cipher.AEAD
	number uint64
	nonce  [12]byte // number (8 bytes, little endian) and kind (4)
}

// Tags returns the tags of the messages that one side writes.
func (x Exchange) Tags(by Role) *Tags {
	key, err := hkdf.Expand(sha256.New, x.key[:], "gvw 1 tags of the "+string(by), tagKey)
	var aead cipher.AEAD
	if err == nil {
		var block cipher.Block
		if block, err = aes.NewCipher(key); err == nil {
			aead, err = cipher.NewGCM(block)
		}
	}
	if err != nil {
		panic(fmt.Sprintf("BUG: auth: no AES-256-GCM of a key of %d bytes: %v", tagKey, err))
	}
	return &Tags{aead: aead}
}

// Append appends the tag of the next message to dst. kind is the message's type.
func (t *Tags) Append(dst []byte, kind uint32, message []byte) []byte {
	return t.aead.Seal(dst, t.next(kind), nil, message)
}

// Accept reports whether tag is the tag of the next message.
func (t *Tags) Accept(tag []byte, kind uint32, message []byte) bool {
	_, err := t.aead.Open(nil, t.next(kind), tag, message)
	return err == nil
}

// Skip counts a message whose tag is not checked.
func (t *Tags) Skip() { t.number++ }

// next returns the nonce of the next message.
func (t *Tags) next(kind uint32) []byte {
	binary.LittleEndian.PutUint64(t.nonce[:], t.number)
	binary.LittleEndian.PutUint32(t.nonce[8:], kind)
	t.number++
	return t.nonce[:]
}
