// SPDX-License-Identifier: Apache-2.0

package httpauth

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// TestGate admits a browser by the link, once, and by the token, and a program by the token.
func TestGate(t *testing.T) {
	t.Parallel()
	g := NewGate("the token", "8080", true)
	h := g.Guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "inside") }))
	send := func(method, path, body string, header ...string) *http.Response {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Result()
	}
	const form = "application/x-www-form-urlencoded"
	link := g.Link()
	for _, test := range []struct {
		name string
		resp *http.Response
		want int
	}{
		{"nothing", send("GET", "/events", ""), 401},
		{"a browser", send("GET", "/", "", "Accept", "text/html"), 303},
		{"a wrong token", send("GET", "/", "", "Authorization", "Bearer other"), 401},
		{"an empty token", send("GET", "/", "", "Authorization", "Bearer "), 401},
		{"the token", send("GET", "/", "", "Authorization", "Bearer the token"), 200},
		{"a wrong key", send("GET", LoginPath+"?key=x", ""), 401},
		{"an empty key", send("GET", LoginPath+"?key=", ""), 401},
		{"a preview of the link", send("HEAD", link, ""), 405},
		{"a wrong token in the form", send("POST", LoginPath, "token=x", "Content-Type", form), 401},
		{"a long form", send("POST", LoginPath, "token="+strings.Repeat("x", maxForm), "Content-Type", form), 401},
		{"a wrong cookie", send("GET", "/", "", "Cookie", "gvw_session_8080=x"), 401},
	} {
		if test.resp.StatusCode != test.want {
			t.Errorf("%s: status %d, want %d", test.name, test.resp.StatusCode, test.want)
		}
	}
	first := send("GET", link, "")
	cookies := first.Cookies()
	if first.StatusCode != 303 || first.Header.Get("Location") != "/" || len(cookies) != 1 {
		t.Fatalf("the link: %s, %v", first.Status, first.Header)
	}
	if c := cookies[0]; !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteStrictMode || strings.Contains(c.Value, "token") {
		t.Errorf("cookie %v", c)
	}
	if got := send("GET", "/", "", "Cookie", cookies[0].Name+"="+cookies[0].Value); got.StatusCode != 200 {
		t.Errorf("with the cookie: %s", got.Status)
	}
	if again := send("GET", link, ""); again.StatusCode != 401 || len(again.Cookies()) != 0 {
		t.Errorf("the link again: %s", again.Status)
	}
	if typed := send("POST", LoginPath, url.Values{"token": {" the token\n"}}.Encode(), "Content-Type", form); typed.StatusCode != 303 || len(typed.Cookies()) != 1 {
		t.Errorf("the token in the form: %s", typed.Status)
	}
	if answer := send("GET", LoginPath, ""); !strings.Contains(answer.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("the form has headers %v", answer.Header)
	}
}

// TestRandomToken admits no client of a gate without a token, except by the link.
func TestRandomToken(t *testing.T) {
	t.Parallel()
	g := NewGate("", "1", false)
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Authorization", "Bearer ")
	if g.Allows(r) || NewGate("", "1", false).Link() == g.Link() {
		t.Error("the token or the link can be guessed")
	}
}
