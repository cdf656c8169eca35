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

// TagSize is the length of a tag.
const TagSize = 16

// tagKey is the length of a direction's key: AES-256.
const tagKey = 32

// Tags makes the tags of one direction of a conversation, or checks them, each for one
// message and in their order. A tag is the AES-GMAC of the message: what AES-GCM makes of
// it as additional data, and of nothing to hide. Its nonce is the message's number, so
// what is changed, sent twice, left out, moved, or taken from another conversation has
// another tag.
//
// It is for what is too long for [Exchange.Seal], which copies, and whose HMAC takes
// several times as long. One goroutine at a time uses it.
type Tags struct {
	aead   cipher.AEAD
	number uint64
	nonce  [12]byte // number, 8 bytes, little endian, and kind, 4
}

// Tags is for what one side writes.
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

// Append appends to dst the tag of the next message: what kind it is, and its bytes.
func (t *Tags) Append(dst []byte, kind uint32, message []byte) []byte {
	return t.aead.Seal(dst, t.next(kind), nil, message)
}

// Accept reports whether tag is that of the next message.
func (t *Tags) Accept(tag []byte, kind uint32, message []byte) bool {
	_, err := t.aead.Open(nil, t.next(kind), tag, message)
	return err == nil
}

// Skip leaves out the tag of a message that nobody looks at.
func (t *Tags) Skip() { t.number++ }

func (t *Tags) next(kind uint32) []byte {
	binary.LittleEndian.PutUint64(t.nonce[:], t.number)
	binary.LittleEndian.PutUint32(t.nonce[8:], kind)
	t.number++
	return t.nonce[:]
}
