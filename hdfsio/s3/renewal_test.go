// SPDX-License-Identifier: Apache-2.0

package s3

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/hdfsio/remote"
)

// roles is a service of credentials that are valid for an hour: that of machines, of containers or
// of web identities.
type roles struct {
	down bool
	made int // credentials
}

func (r *roles) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		_, _ = io.Copy(io.Discard, req.Body)
	}
	if r.down {
		return nil, errors.New("no route to host")
	}
	until := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	body := ""
	switch {
	case strings.HasSuffix(req.URL.Path, "/token"):
		body = "token"
	case strings.HasSuffix(req.URL.Path, "/security-credentials/"):
		body = "worker"
	case req.URL.Host == "sts":
		r.made++
		body = fmt.Sprintf("<R><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>K%d</AccessKeyId><Expiration>%s</Expiration></Credentials></AssumeRoleWithWebIdentityResult></R>", r.made, until)
	default:
		r.made++
		body = fmt.Sprintf(`{"AccessKeyId":"K%d","Expiration":%q}`, r.made, until)
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body)), Request: req}, nil
}

// A service that does not respond for a while costs nothing while the old keys are valid. A machine
// whose service has missed the first request gets its keys later.
func TestRenewal(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("jwt"), 0o600); err != nil {
		t.Fatal(err)
	}
	for what, env := range map[string]map[string]string{
		"machine":      {"HOME": t.TempDir()},
		"container":    {"HOME": t.TempDir(), "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://roles/c"},
		"web identity": {"HOME": t.TempDir(), "AWS_WEB_IDENTITY_TOKEN_FILE": token, "AWS_ENDPOINT_URL_STS": "https://sts"},
	} {
		synctest.Test(t, func(t *testing.T) {
			service := &roles{down: true}
			c := newChain(func(name string) string { return env[name] })
			c.http.Transport = service
			expect := func(when, id string, fails bool) {
				t.Helper()
				for range 3 {
					k, err := c.get()
					if k.id != id || (err != nil) != fails {
						t.Errorf("%s, %s: got %q, %v; want %q", what, when, k.id, err, id)
					}
				}
			}
			expect("the service is down at first", "", what != "machine")
			service.down = false
			time.Sleep(noneFor)
			expect("it is up", "K1", false)
			time.Sleep(time.Hour - renewBefore - time.Second)
			expect("before the renewal", "K1", false)
			service.down = true
			time.Sleep(renewBefore - time.Second)
			expect("it is down at the renewal", "K1", false)
			time.Sleep(2 * time.Second)
			expect("the old keys have expired", "", true)
			service.down = false
			expect("it is up again", "K2", false)
			service.down = true
			time.Sleep(time.Hour - renewBefore)
			expect("it is down at the renewal", "K2", false)
			service.down = false
			expect("shortly after it is up", "K2", false)
			time.Sleep(retryAfter)
			expect("later", "K3", false)
		})
	}
}

// transport is an http.RoundTripper.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// No URL and no error has the token of a web identity or of a container.
func TestTokensAreSecret(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("S3CRET\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for what, env := range map[string]map[string]string{
		"web identity":   {"AWS_WEB_IDENTITY_TOKEN_FILE": token, "AWS_ROLE_ARN": "arn:role", "AWS_ENDPOINT_URL_STS": "https://sts"},
		"container":      {"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://roles/c?t=S3CRET"},
		"not even a URL": {"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://roles:x/c?t=S3CRET"},
	} {
		c := newChain(func(name string) string { return env[name] })
		c.http.Transport = transport(func(req *http.Request) (*http.Response, error) {
			if what == "web identity" {
				if strings.Contains(req.URL.String(), "S3CRET") || req.ParseForm() != nil || req.PostForm.Get("WebIdentityToken") != "S3CRET" || req.PostForm.Get("RoleArn") != "arn:role" {
					t.Errorf("%s: the request is %s %s with the form %v", what, req.Method, req.URL, req.PostForm)
				}
			}
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("no route to host")}
		})
		_, err := c.get()
		if err == nil || strings.Contains(err.Error(), "S3CRET") || what != "not even a URL" && (!strings.Contains(err.Error(), "no route") || !remote.Transient(err)) {
			t.Errorf("%s: got %v, want the reason without the token", what, err)
		}
	}
}
