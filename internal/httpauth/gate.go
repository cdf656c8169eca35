// SPDX-License-Identifier: Apache-2.0

package httpauth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// LoginPath is the path of a gate's link. Guard lets requests for it pass.
const LoginPath = "/login"

// Gate admits programs by a token, and browsers by a cookie that a link or the token gives them. It
// is safe for concurrent use.
type Gate struct {
	bearer  Bearer
	token   [32]byte // digest
	cookie  string   // name of the cookie
	session string   // its value
	digest  [32]byte // of session
	secure  bool

	mu   sync.Mutex
	once string   // key of the link; "": it was used
	key  [32]byte // its digest
}

// NewGate returns a gate for a token; "": a random one, so that only the link admits clients. The
// cookie's name contains the port, because browsers send a cookie to all ports of a host. secure is
// set if all clients use TLS.
func NewGate(token, port string, secure bool) *Gate {
	if token == "" {
		token = random()
	}
	g := &Gate{bearer: NewBearer(token), token: sha256.Sum256([]byte(token)), cookie: "gvw_session_" + port, session: random(), once: random(), secure: secure}
	g.digest, g.key = sha256.Sum256([]byte(g.session)), sha256.Sum256([]byte(g.once))
	return g
}

// random returns 192 random bits as text.
func random() string {
	var b [24]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// Link returns the path and query of the link. It works once.
func (g *Gate) Link() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return LoginPath + "?key=" + url.QueryEscape(g.once)
}

// use reports whether a key is that of the link, which then does not work again.
func (g *Gate) use(key string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.once == "" || !is(g.key, key) {
		return false
	}
	g.once = ""
	return true
}

// Allows reports whether a request has the token or the cookie.
func (g *Gate) Allows(r *http.Request) bool {
	c, err := r.Cookie(g.cookie)
	return err == nil && is(g.digest, c.Value) || g.bearer.Allows(r)
}

// Guard passes requests with the token or the cookie to next, and those for LoginPath to the login. A
// browser without a cookie is redirected to the form for the token.
func (g *Gate) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == LoginPath:
			g.login(w, r)
		case g.Allows(r):
			next.ServeHTTP(w, r)
		case r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html"):
			http.Redirect(w, r, LoginPath, http.StatusSeeOther)
		default:
			Refuse(w)
		}
	})
}

// form asks a browser for the token. It needs no style and no script.
const form = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>gvw: sign in</title></head>
<body><main><h1>Sign in</h1>
<p>The link that was printed at the start works once. Another browser needs the token that the server was given.</p>
<form method="post" action="/login"><label>Token <input name="token" type="password" autocomplete="current-password" required autofocus></label> <button>Sign in</button></form>
</main></body></html>
`

// maxForm limits the body of a login, in bytes.
const maxForm = 4096

// login sets the cookie of a browser that has the link or sends the token.
func (g *Gate) login(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	allowed := false
	switch key := r.URL.Query().Get("key"); r.Method {
	case http.MethodGet:
		allowed = key != "" && g.use(key) || g.Allows(r)
	case http.MethodPost:
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		allowed = is(g.token, strings.TrimSpace(r.PostFormValue("token")))
	default: // HEAD, by which programs preview links, must not use up the link
		h.Set("Allow", "GET, POST")
		http.Error(w, "error: want GET or POST", http.StatusMethodNotAllowed)
		return
	}
	if !allowed {
		h.Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, form) // the client may have gone
		return
	}
	http.SetCookie(w, &http.Cookie{Name: g.cookie, Value: g.session, Path: "/", HttpOnly: true, Secure: g.secure, SameSite: http.SameSiteStrictMode})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}
