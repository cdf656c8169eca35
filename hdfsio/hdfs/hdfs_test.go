// SPDX-License-Identifier: Apache-2.0

package hdfs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/hdfsio/remote"
	"github.com/gvw-project/gvw/hdfsio/siteconf"
)

// closedPort returns an address on which no process listens.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// webNode returns a name node that has only its root directory, and a function that returns the
// user of the last request.
func webNode(t *testing.T) (address string, asked func() string) {
	t.Helper()
	var who string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who = r.URL.Query().Get("user.name") + r.URL.Query().Get("delegation")
		fmt.Fprint(w, `{"FileStatus":{"type":"DIRECTORY","permission":"755","modificationTime":1}}`)
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String(), func() string { return who }
}

// newConf returns a cluster whose RPC and HTTP are at these addresses.
func newConf(rpc, web string) *siteconf.Conf {
	c := &siteconf.Conf{Dir: "/etc/hadoop/conf"}
	c.Set("fs.defaultFS", "hdfs://"+rpc)
	c.Set("dfs.namenode.http-address", web)
	return c
}

func TestAutoTakesTheFirstThatWorks(t *testing.T) {
	web, asked := webNode(t)
	var log bytes.Buffer
	dial := Dialer(Config{Conf: newConf(closedPort(t), web), User: "ada", Host: "here", Log: slog.New(slog.NewTextHandler(&log, nil))})
	fsys, err := dial("hdfs", "")
	if err != nil {
		t.Fatal(err)
	}
	if info, err := fsys.Stat(t.Context(), "hdfs:///"); err != nil || !info.Mode.IsDir() {
		t.Errorf("%+v, %v", info, err)
	}
	if asked() != "ada" {
		t.Errorf("asked by %q", asked())
	}
	for _, want := range []string{"connected to", "by=webhdfs", "as=ada", "not_native=", "connection refused"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %q:\n%s", want, log.String())
		}
	}
}

func TestNoWayHasAllReasons(t *testing.T) {
	dial := Dialer(Config{Conf: newConf(closedPort(t), closedPort(t)), User: "ada", Host: "here"})
	_, err := dial("hdfs", "")
	for _, want := range []string{"native: ", "webhdfs: ", "pipe: neither hdfs nor hadoop is in PATH"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	if no, ok := errors.AsType[*NoWayError](err); !ok || len(no.Reasons) != 3 {
		t.Errorf("%T, want a NoWayError with three reasons", err)
	}
}

// The error for a client that cannot work names what is missing.
func TestErrorNamesMissingParts(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"ticket", "krb5.conf", "tokens"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("HDTS\x00\x00\x00"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := func(name string) string { return filepath.Join(dir, name) }
	secure := newConf("nn:8020", "nn:9870")
	secure.Set("hadoop.security.authentication", "kerberos")
	named := newConf("nn:8020", "nn:9870")
	named.Set("hadoop.security.authentication", "kerberos")
	named.Set("dfs.namenode.kerberos.principal", "nn/_HOST@REALM")
	for _, c := range []struct {
		cfg  Config
		want []string
	}{
		{Config{Client: "native", Conf: secure}, []string{"native: ", "kinit", "hdfs.Config.Keytab"}},
		{Config{Client: "native", Conf: secure, TicketCache: file("none"), TokenFile: file("tokens")}, []string{"it cannot use a delegation token"}},
		{Config{Client: "native", Conf: secure, TicketCache: file("ticket"), KerberosConf: file("none")}, []string{file("none"), "KRB5_CONFIG"}},
		{Config{Client: "native", Conf: secure, TicketCache: file("ticket"), KerberosConf: file("krb5.conf")}, []string{"dfs.namenode.kerberos.principal"}},
		{Config{Client: "native", Conf: named, Keytab: file("none"), Principal: "ada@REALM", KerberosConf: file("empty.conf")}, []string{"KRB5_CONFIG"}},
		{Config{Client: "native", Conf: named, Keytab: file("none"), Principal: "ada", KerberosConf: file("krb5.conf")}, []string{"NAME@REALM"}},
		{Config{Client: "webhdfs", Conf: secure}, []string{"webhdfs: ", "HADOOP_TOKEN_FILE_LOCATION", "hdfs fetchdt"}},
		{Config{Client: "webhdfs", Conf: secure, TokenFile: file("none")}, []string{"no such file"}},
		{Config{Client: "webhdfs", Conf: secure, TokenFile: file("tokens")}, []string{file("tokens"), "no token for HDFS"}},
		{Config{Client: "pipe", Conf: secure}, []string{"pipe: ", "neither hdfs nor hadoop"}},
		{Config{Client: "smoke", Conf: secure}, []string{"smoke", "auto, native, webhdfs, pipe"}},
		{Config{Conf: secure, Keytab: "k"}, []string{"principal"}},
	} {
		c.cfg.User, c.cfg.Host = "ada", "here"
		_, err := Dialer(c.cfg)("hdfs", "")
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v does not say %q", c.cfg.Client, err, want)
			}
		}
	}
	if _, err := Dialer(Config{User: "ada", Host: "here"})("s3", "bucket"); err == nil || !strings.Contains(err.Error(), "s3://") {
		t.Errorf("another scheme: %v", err)
	}
	if _, err := Dialer(Config{Host: "here"})("hdfs", "nn"); err == nil || !strings.Contains(err.Error(), "User") {
		t.Errorf("nobody calls: %v", err)
	}
}

// A delegation token takes precedence over a user name.
func TestATokenIsUsed(t *testing.T) {
	web, asked := webNode(t)
	file := filepath.Join(t.TempDir(), "tokens")
	field := func(s string) string { return string(rune(len(s))) + s }
	text := "HDTS\x00\x01" + field("alias") + field("id") + field("pw") + field("HDFS_DELEGATION_TOKEN") + field("any") + "\x00"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Dialer(Config{User: "ada", Host: "here", TokenFile: file})("webhdfs", web); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(asked(), "adaAmlkAnB3") { // the user name, in a request without authentication; 2 id 2 pw, in base 64
		t.Errorf("asked by %q, want the name and the token", asked())
	}
}

// On a cluster that protects data, WebHDFS uses TLS if the cluster offers it, and otherwise nothing unless it is asked for.
func TestProtectedDataHasTLS(t *testing.T) {
	web, _ := webNode(t) // without TLS
	for _, c := range []struct{ protection, policy, client, want string }{
		{"privacy", "", "webhdfs", ""},
		{"privacy", "", "auto", "without protection"},
		{"integrity", "HTTP_ONLY", "auto", "HTTP_AND_HTTPS"},
		{"integrity", "HTTP_AND_HTTPS", "auto", "HTTP response to HTTPS client"},
		{"privacy", "HTTPS_ONLY", "auto", "HTTP response to HTTPS client"},
		{"privacy", "HTTPS_ONLY", "webhdfs", "HTTP response to HTTPS client"},
		{"authentication", "HTTP_AND_HTTPS", "auto", ""},
	} {
		conf := newConf(closedPort(t), web)
		conf.Set("dfs.namenode.https-address", web)
		conf.Set(protection, c.protection)
		conf.Set("dfs.http.policy", c.policy)
		_, err := Dialer(Config{Client: c.client, Conf: conf, User: "ada", Host: "here"})("hdfs", "")
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v", c, err)
		}
	}
}

// canNot is a client that supports no operation on a file, or all of them.
type canNot struct {
	remote.Backend
	err  error
	text string
}

func (c canNot) String() string { return "first" }

func (c canNot) Open(string, int64) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader(c.text)), c.err
}

func (c canNot) Put(_ string, r io.Reader, _ fs.FileMode) error {
	if c.err == nil {
		_, c.err = io.ReadAll(r)
	}
	return c.err
}

func (c canNot) Blocks(string, int64) ([]hdfsio.Block, error) { return nil, c.err }

func TestOtherClientTakesOver(t *testing.T) {
	no := fmt.Errorf("it is encrypted: %w", errors.ErrUnsupported)
	second := canNot{text: "second"}
	o := &orNext{Backend: canNot{err: no}, next: func() (remote.Backend, error) { return second, nil }}
	r, err := o.Open("/x", 0)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(r); err != nil || string(b) != "second" {
		t.Errorf("%q, %v", b, err)
	}
	if err := o.Put("/x", strings.NewReader("text"), 0); err != nil {
		t.Error(err)
	}
	o.next = func() (remote.Backend, error) { return nil, errors.New("there is none") }
	if _, err := o.Open("/x", 0); !errors.Is(err, no) {
		t.Errorf("without another: %v", err)
	}
	if err := o.Put("/x", strings.NewReader("text"), 0); !errors.Is(err, no) {
		t.Errorf("without another: %v", err)
	}
	refused := &orNext{Backend: canNot{err: fs.ErrPermission}, next: func() (remote.Backend, error) { return second, nil }}
	if _, err := refused.Open("/x", 0); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("what is not allowed: %v", err)
	}
}
