// SPDX-License-Identifier: Apache-2.0

package s3

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/hdfsio/remote"
	"github.com/gvw-project/gvw/internal/webtest"
)

// Outcomes of a request to metadata, besides status codes.
const (
	silent  = -1 // no response
	refused = -2 // no connection
)

// metadata is a metadata service of EC2 with faults.
type metadata struct {
	mu    sync.Mutex
	token []int // outcomes of the next requests for a token; then all succeed
	role  []int // likewise, for the name of the role
	keys  []int // likewise, for its keys
	asked int   // requests for a token
}

// outcome returns the outcome of a request, and the body of the response if it succeeds.
func (m *metadata) outcome(req *http.Request) (outcome int, body string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	next, body := &m.keys, `{"AccessKeyId":"MACHINE","SecretAccessKey":"s"}`
	switch {
	case strings.HasSuffix(req.URL.Path, "/token"):
		next, body = &m.token, "token"
		m.asked++
	case strings.HasSuffix(req.URL.Path, "/security-credentials/"):
		next, body = &m.role, "worker"
	}
	if len(*next) == 0 {
		return http.StatusOK, body
	}
	outcome, *next = (*next)[0], (*next)[1:]
	return outcome, body
}

func (m *metadata) RoundTrip(req *http.Request) (*http.Response, error) {
	outcome, body := m.outcome(req)
	switch outcome {
	case silent:
		<-req.Context().Done()
		return nil, req.Context().Err()
	case refused:
		return nil, syscall.ECONNREFUSED
	}
	return &http.Response{StatusCode: outcome, Status: fmt.Sprint(outcome), Body: io.NopCloser(strings.NewReader(body)), Request: req}, nil
}

func (m *metadata) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	outcome, body := m.outcome(req)
	w.WriteHeader(outcome)
	_, _ = io.WriteString(w, body)
}

// A metadata service that misses some requests still yields keys, at once or by a retry of the caller. A machine
// without one has no keys, and no error, after a bounded time.
func TestMetadataServiceMissesRequests(t *testing.T) {
	for name, test := range map[string]struct {
		service *metadata
		fails   bool // the first search
		want    string
		within  time.Duration
	}{
		"no fault":                   {service: &metadata{}, want: "MACHINE"},
		"token without response":     {service: &metadata{token: []int{silent}}, want: "MACHINE", within: roleTimeout + tokenPause},
		"token: 503, 429":            {service: &metadata{token: []int{503, 429}}, want: "MACHINE", within: 3 * tokenPause},
		"role: 503":                  {service: &metadata{role: []int{503}}, fails: true, want: "MACHINE"},
		"role without response":      {service: &metadata{role: []int{silent}}, fails: true, want: "MACHINE", within: roleTimeout},
		"keys: 429, 500":             {service: &metadata{keys: []int{429, 500}}, fails: true, want: ""},
		"no role":                    {service: &metadata{role: []int{404}}},
		"no service, a silent host":  {service: &metadata{token: []int{silent, silent, silent}}, within: tokenTimeout},
		"no service, no listener":    {service: &metadata{token: []int{refused, refused, refused}}, within: 3 * tokenPause},
		"no service, a web server":   {service: &metadata{token: []int{404}}},
		"no service behind a proxy":  {service: &metadata{token: []int{502, 502, 502}}, within: 3 * tokenPause},
		"a service that allows none": {service: &metadata{token: []int{403}}},
	} {
		synctest.Test(t, func(t *testing.T) {
			env := map[string]string{"HOME": t.TempDir()}
			c := newChain(func(name string) string { return env[name] })
			c.http.Transport = test.service
			began := time.Now()
			k, err := c.get()
			if took := time.Since(began); took != test.within {
				t.Errorf("%s: took %v, want %v", name, took, test.within)
			}
			if (err != nil) != test.fails || err != nil && !remote.Transient(err) {
				t.Errorf("%s: got %v, want a transient error: %v", name, err, test.fails)
			}
			if test.fails {
				k, _ = c.get()
			}
			if k.id != test.want {
				t.Errorf("%s: got %q, want %q", name, k.id, test.want)
			}
		})
	}
}

// An overloaded service of credentials is worth a retry; a refusal is not, and is no error of the object.
func TestServicesOfCredentialsRespondErrors(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("jwt"), 0o600); err != nil {
		t.Fatal(err)
	}
	for what, env := range map[string]map[string]string{
		"container":    {"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://roles/c"},
		"web identity": {"AWS_WEB_IDENTITY_TOKEN_FILE": token, "AWS_ENDPOINT_URL_STS": "https://sts"},
	} {
		for code, later := range map[int]bool{429: true, 500: true, 503: true, 400: false, 403: false, 404: false} {
			c := newChain(func(name string) string { return env[name] })
			c.http.Transport = &metadata{keys: []int{code}}
			_, err := c.get()
			if err == nil || remote.Transient(err) != later || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s, %d: got %v, want an error, transient: %v", what, code, err, later)
			}
		}
	}
}

// The web identity's service reports with status 400 that it is busy, and its errors have a reason.
func TestReasonsOfTheWebIdentity(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("jwt"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": token, "AWS_ENDPOINT_URL_STS": "https://sts"}
	for code, later := range map[string]bool{"Throttling": true, "IDPCommunicationError": true, "ExpiredTokenException": false} {
		c := newChain(func(name string) string { return env[name] })
		c.http.Transport = response("<ErrorResponse><Error><Type>Sender</Type><Code>" + code + "</Code><Message>the reason</Message></Error></ErrorResponse>")
		_, err := c.get()
		if err == nil || remote.Transient(err) != later || !strings.Contains(err.Error(), code+": the reason") {
			t.Errorf("%s: got %v, want an error with the reason, transient: %v", code, err, later)
		}
	}
}

// response is the body of all responses of a service, with status 400.
type response string

func (r response) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 400, Status: "400 Bad Request", Body: io.NopCloser(strings.NewReader(string(r))), Request: req}, nil
}

// A request that was refused because the metadata service had missed all requests is repeated with keys. Where there
// is no such service, few requests look for it.
func TestRefusedWithoutKeys(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		token []int
		found bool
		asked int
	}{
		"the service was busy": {token: []int{503, 503, 503}, found: true, asked: 4},
		"there is no service":  {token: []int{404, 404, 404, 404, 404, 404}, asked: 2},
	} {
		service := &metadata{token: test.token}
		h := httptest.NewServer(service)
		t.Cleanup(h.Close)
		s := start(t, map[string]string{"a": "text"})
		s.private = true
		fsys := s.system(t, map[string]string{"AWS_EC2_METADATA_DISABLED": "", "AWS_EC2_METADATA_SERVICE_ENDPOINT": h.URL})
		for range 3 {
			got, err := webtest.Read(t, fsys, "s3://data/a", 0)
			if found := err == nil && got == "text"; found != test.found || !found && !errors.Is(err, fs.ErrPermission) {
				t.Errorf("%s: got %q, %v; want the object: %v", name, got, err, test.found)
			}
		}
		if service.asked != test.asked {
			t.Errorf("%s: %d requests for a token, want %d", name, service.asked, test.asked)
		}
	}
}
