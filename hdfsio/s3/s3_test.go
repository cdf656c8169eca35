// SPDX-License-Identifier: Apache-2.0

package s3

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/hdfsio/remote"
	"github.com/gvw-project/gvw/internal/webtest"
)

// server is a server of S3 in memory, before which is a front with faults.
type server struct {
	backend *s3mem.Backend
	url     string

	mu      sync.Mutex
	fail    []int             // status codes of the next responses
	logins  []string          // of the requests
	region  string            // the bucket's; empty: any
	private bool              // requests without a login are refused
	paths   map[string][]byte // responses of other services
}

func start(t *testing.T, objects map[string]string) *server {
	t.Helper()
	s := &server{backend: s3mem.New()}
	if err := s.backend.CreateBucket("data"); err != nil {
		t.Fatal(err)
	}
	for name, text := range objects {
		s.put(t, name, text)
	}
	next := gofakes3.New(s.backend, gofakes3.WithTimeSkewLimit(0)).Server()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.logins = append(s.logins, r.Header.Get("Authorization"))
		code := 0
		if len(s.fail) > 0 {
			code, s.fail = s.fail[0], s.fail[1:]
		}
		region, private, service := s.region, s.private, s.paths[r.Method+" "+r.URL.Path]
		s.mu.Unlock()
		switch {
		case service != nil:
			_, _ = w.Write(service)
		case code != 0:
			w.WriteHeader(code)
			fmt.Fprintf(w, "<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>")
		case region != "" && !strings.Contains(r.Header.Get("Authorization"), "/"+region+"/s3/"):
			w.Header().Set("X-Amz-Bucket-Region", region)
			w.WriteHeader(http.StatusMovedPermanently)
		case private && r.Header.Get("Authorization") == "":
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, "<Error><Code>AccessDenied</Code><Message>Access Denied.</Message></Error>")
		default:
			next.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(h.Close)
	s.url = h.URL
	return s
}

func (s *server) put(t *testing.T, name, text string) {
	t.Helper()
	if _, err := s.backend.PutObject("data", name, map[string]string{"Last-Modified": "Mon, 02 Jan 2006 15:04:05 GMT"}, strings.NewReader(text), int64(len(text)), nil); err != nil {
		t.Fatal(err)
	}
}

// system returns the file system of the bucket, with variables of the environment.
func (s *server) system(t *testing.T, env map[string]string) *remote.FS {
	t.Helper()
	vars := map[string]string{"AWS_ENDPOINT_URL": s.url, "AWS_EC2_METADATA_DISABLED": "true", "HOME": t.TempDir()}
	for k, v := range env {
		vars[k] = v
	}
	b, err := New(Config{Bucket: "data", Env: func(name string) string { return vars[name] }})
	if err != nil {
		t.Fatal(err)
	}
	fsys, err := remote.New(b, remote.Config{Prefix: "s3://data", Verbatim: true, Host: "here", Patience: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	return fsys
}

var login = map[string]string{"AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "eu-west-3"}

// Objects are read from any offset, with a login, through faults, whatever their names have.
func TestRead(t *testing.T) {
	t.Parallel()
	text := webtest.Lines(500)
	for _, name := range []string{"train.vw", "a/b c+d=é%.vw", "a//b"} {
		s := start(t, map[string]string{name: text})
		s.fail = []int{503, 0, 500}
		fsys := s.system(t, login)
		for _, offset := range []int64{0, 1, 1234, int64(len(text))} {
			got, err := webtest.Read(t, fsys, "s3://data/"+name, offset)
			if err != nil || got != text[offset:] {
				t.Fatalf("%s from %d on: %d bytes, want %d (%v)", name, offset, len(got), len(text)-int(offset), err)
			}
		}
		if want := "AWS4-HMAC-SHA256 Credential=AKID/"; !strings.HasPrefix(s.logins[0], want) || !strings.Contains(s.logins[0], "/eu-west-3/s3/aws4_request") {
			t.Errorf("login %q, want %s…/eu-west-3/s3/aws4_request", s.logins[0], want)
		}
	}
}

// Patterns select objects, as they select files.
func TestPatterns(t *testing.T) {
	t.Parallel()
	objects := map[string]string{"in/a.vw": "x", "in/b.vw": "yy", "in/c.csv": "z", "in/sub/d.vw": "w", "other.vw": "v"}
	for i := range 1100 { // more than a page
		objects[fmt.Sprintf("many/%04d", i)] = ""
	}
	fsys := start(t, objects).system(t, login)
	for pattern, want := range map[string][]string{
		"s3://data/in/*.vw":     {"s3://data/in/a.vw", "s3://data/in/b.vw"},
		"s3://data/*/sub/?.vw":  {"s3://data/in/sub/d.vw"},
		"s3://data/*.vw":        {"s3://data/other.vw"},
		"s3://data/in/[bc].*":   {"s3://data/in/b.vw", "s3://data/in/c.csv"},
		"s3://data/many/109[0-": nil,
	} {
		got, err := hdfsio.Expand(t.Context(), fsys, []string{pattern})
		if want == nil {
			if err == nil {
				t.Errorf("%s: no error", pattern)
			}
			continue
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", pattern, err, diff)
		}
	}
	got, err := hdfsio.Expand(t.Context(), fsys, []string{"s3://data/many/*"})
	if err != nil || len(got) != 1100 {
		t.Errorf("%d objects, want 1100 (%v)", len(got), err)
	}
	info, err := fsys.Stat(t.Context(), "s3://data/in")
	if err != nil || !info.Mode.IsDir() {
		t.Errorf("a directory: %+v, %v", info, err)
	}
}

// Errors name the object, the server's words and a remedy.
func TestErrors(t *testing.T) {
	t.Parallel()
	s := start(t, map[string]string{"a": webtest.Lines(10)})
	fsys := s.system(t, login)
	if _, err := webtest.Read(t, fsys, "s3://data/none", 0); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "s3://data/none (s3)") || !strings.Contains(err.Error(), "check the names of the bucket") {
		t.Errorf("a missing object: %v", err)
	}
	if _, err := fsys.Create(t.Context(), "s3://data/new"); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a write: %v", err)
	}
	r, err := fsys.Open(t.Context(), "s3://data/a", 0)
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	s.mu.Lock()
	s.fail = []int{403, 403}
	s.mu.Unlock()
	if _, err := webtest.Read(t, fsys, "s3://data/a", 0); err != nil && !strings.Contains(err.Error(), "Please reduce") {
		t.Errorf("a refusal that is to be repeated: %v", err)
	}
	for _, c := range []Config{{Bucket: ""}, {Bucket: "a:b@c"}, {Bucket: "b", Endpoint: "host:9000"}, {Bucket: "b", Endpoint: "http://h/path"}} {
		c.Env = func(string) string { return "" }
		if _, err := New(c); err == nil {
			t.Errorf("%+v: no error", c.Endpoint)
		}
	}
}

// An object that is replaced between two requests is an error.
func TestChange(t *testing.T) {
	t.Parallel()
	s := start(t, map[string]string{"a": webtest.Lines(10)})
	b, err := New(Config{Bucket: "data", Endpoint: s.url, Env: func(name string) string { return login[name] }})
	if err != nil {
		t.Fatal(err)
	}
	info, err := b.Stat("/a")
	if err != nil || info.Tag == "" {
		t.Fatalf("%+v, %v", info, err)
	}
	s.put(t, "a", strings.ToUpper(webtest.Lines(10)))
	if _, err := b.OpenVersion("/a", 0, info); !errors.Is(err, remote.ErrChanged) {
		t.Errorf("got %v, want ErrChanged", err)
	}
}

// A bucket of another region costs one more request.
func TestRegion(t *testing.T) {
	t.Parallel()
	s := start(t, map[string]string{"a": "text"})
	s.region = "ap-south-1"
	if got, err := webtest.Read(t, s.system(t, login), "s3://data/a", 0); err != nil || got != "text" {
		t.Errorf("%q, %v", got, err)
	}
	for bucket, want := range map[string]string{"plain": "https://plain.s3.eu-north-1.amazonaws.com", "with.dots": "https://s3.eu-north-1.amazonaws.com/with.dots"} {
		if got, err := (Config{Bucket: bucket, Env: func(string) string { return "" }}).base("eu-north-1"); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", bucket, got, err, want)
		}
	}
}

// Credentials come from the first of the chain that has some.
func TestCredentials(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write(".aws/credentials", "[default]\naws_access_key_id = FILE\naws_secret_access_key=s\n[work]\naws_access_key_id=WORK\naws_secret_access_key=s\n")
	write(".aws/config", "[default]\nregion = us-west-1\n[profile work]\nregion=us-west-2\n")
	role := `{"AccessKeyId":"ROLE","SecretAccessKey":"s","Token":"t","Expiration":"2100-01-01T00:00:00Z"}`
	sts := `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>WEB</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>2100-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`
	s := start(t, map[string]string{"a": "text"})
	s.paths = map[string][]byte{
		"GET /role":             []byte(role),
		"PUT /latest/api/token": []byte("token"),
		"GET /latest/meta-data/iam/security-credentials/":       []byte("worker\n"),
		"GET /latest/meta-data/iam/security-credentials/worker": []byte(strings.Replace(role, "ROLE", "MACHINE", 1)),
		"POST /": []byte(sts),
	}
	for want, env := range map[string]map[string]string{
		"AKID/":    login,
		"FILE/":    {"HOME": dir},
		"WORK/":    {"HOME": dir, "AWS_PROFILE": "work"},
		"WEB/":     {"AWS_WEB_IDENTITY_TOKEN_FILE": write("token", "jwt"), "AWS_ROLE_ARN": "arn", "AWS_ENDPOINT_URL_STS": s.url},
		"ROLE/":    {"AWS_CONTAINER_CREDENTIALS_FULL_URI": s.url + "/role"},
		"MACHINE/": {"AWS_EC2_METADATA_DISABLED": "", "AWS_EC2_METADATA_SERVICE_ENDPOINT": s.url},
		"":         {},
	} {
		fsys := s.system(t, env)
		got, err := webtest.Read(t, fsys, "s3://data/a", 0)
		if err != nil || got != "text" {
			t.Fatalf("%s: %q, %v", want, got, err)
		}
		last := s.logins[len(s.logins)-1]
		if want == "" && last != "" || !strings.Contains(last, want) {
			t.Errorf("login %q, want that of %q", last, want)
		}
		if want == "WORK/" && !strings.Contains(last, "/us-west-2/") {
			t.Errorf("login %q, want the region of the profile", last)
		}
	}
	for _, env := range []map[string]string{{"AWS_ACCESS_KEY_ID": "half"}, {"AWS_PROFILE": "none"}} {
		if _, err := webtest.Read(t, s.system(t, env), "s3://data/a", 0); err == nil || !strings.Contains(err.Error(), "credentials for S3") {
			t.Errorf("%v: %v", env, err)
		}
	}
}
