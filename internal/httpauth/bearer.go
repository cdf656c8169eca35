// SPDX-License-Identifier: Apache-2.0

package httpauth

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
)

// Bearer is the digest of a token that clients send as "Authorization: Bearer TOKEN".
type Bearer struct{ digest [32]byte }

// NewBearer returns the digest of a token.
func NewBearer(token string) Bearer { return Bearer{sha256.Sum256([]byte("Bearer " + token))} }

// Allows reports whether a request has the token. The comparison takes the same time for all tokens.
func (b Bearer) Allows(r *http.Request) bool { return is(b.digest, r.Header.Get("Authorization")) }

// Refuse answers a request without a valid token.
func Refuse(w http.ResponseWriter) {
	w.Header().Set("WWW-Authenticate", "Bearer")
	http.Error(w, "error: this server needs a token: send Authorization: Bearer TOKEN", http.StatusUnauthorized)
}

// is reports whether a text has a digest, in constant time.
func is(digest [32]byte, text string) bool {
	sent := sha256.Sum256([]byte(text))
	return subtle.ConstantTimeCompare(sent[:], digest[:]) == 1
}
