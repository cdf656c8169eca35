// SPDX-License-Identifier: Apache-2.0

package secure

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/hdfsio/hdfs"
	"github.com/gvw-project/gvw/hdfsio/siteconf"
	"github.com/gvw-project/gvw/tests/hadoop/cluster"
	"github.com/gvw-project/gvw/tests/hadoop/kdc"
	"github.com/gvw-project/gvw/tests/harness"
)

// site is a realm with a cluster and two users.
type site struct {
	programs string // folder
	gvw      string // program
	realm    *kdc.KDC
	cluster  *cluster.Cluster
	keytab   string // of ada, and of bob, whose tickets last for bobsLife
}

// yarnJob is a part of the test that needs YARN, with the user's ticket and data; nil: there is none.
var yarnJob func(s *site, t *testing.T, ticket string, text []byte)

// bobsLife is longer than a JVM on a busy machine takes for a call.
const bobsLife = 15 * time.Second

// missing fails or skips the test.
func missing(t *testing.T, why error) {
	t.Helper()
	if os.Getenv("REQUIRE_ALL") == "1" {
		t.Fatal("REQUIRE_ALL=1, and ", why)
	}
	t.Skip(why)
}

func start(t *testing.T) *site {
	t.Helper()
	if os.Getenv("GVW_HADOOP") != "1" {
		missing(t, errors.New("needs a real Hadoop: make test-hadoop starts one (Java 17, Maven, 100 MB of jars, minutes)"))
	}
	java, err := cluster.FindJava(t.Context(), os.Getenv("JAVA_HOME"))
	if err = errors.Join(err, cluster.FindMaven(), kdc.Find()); err != nil {
		missing(t, err)
	}
	cache := os.Getenv("GVW_HADOOP_CACHE")
	if cache == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(base, "gvw")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	jars, err := cluster.Fetch(ctx, cache, java)
	if err != nil {
		missing(t, fmt.Errorf("the jars of Hadoop cannot be had: %w", err))
	}
	programs, err := harness.Programs(ctx, os.Getenv(harness.EnvPrograms), t.TempDir(), "gvw", "spanning_tree")
	if err != nil {
		t.Fatal(err)
	}
	s := &site{programs: programs, gvw: filepath.Join(programs, "gvw")}
	if s.realm, err = kdc.Start(ctx, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { check(t, s.realm.Stop()) })
	daemons, err := s.realm.Keytab(ctx, "daemons", kdc.Principal{Name: "nn/localhost"}, kdc.Principal{Name: "dn/localhost"}, kdc.Principal{Name: "HTTP/localhost"},
		kdc.Principal{Name: "rm/localhost"}, kdc.Principal{Name: "nm/localhost"}, kdc.Principal{Name: "jhs/localhost"})
	if err != nil {
		t.Fatal(err)
	}
	if s.keytab, err = s.realm.Keytab(ctx, "users", kdc.Principal{Name: "ada"}, kdc.Principal{Name: "bob", MaxLife: bobsLife}); err != nil {
		t.Fatal(err)
	}
	nodes := 0
	if yarnJob != nil {
		nodes = 1
	}
	if s.cluster, err = cluster.Start(ctx, cluster.Config{
		Dir: t.TempDir(), Jars: jars, Java: java, Nodes: nodes, NodeMB: 1024, // an ApplicationMaster and two maps
		Kerberos: &cluster.Kerberos{Conf: s.realm.Conf(), Realm: kdc.Realm, Keytab: daemons},
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { check(t, s.cluster.Stop()) })
	// A name node that listens may still refuse calls.
	ada := s.files(t, "native", "ada")
	if !harness.Until(time.Minute, 200*time.Millisecond, func() bool {
		_, err = ada.Stat(ctx, s.cluster.HDFS()+"/")
		return err == nil
	}) {
		t.Fatal(err)
	}
	return s
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// run runs gvw with these variables besides those of the realm and the cluster.
func (s *site) run(t *testing.T, env []string, args ...string) (stderr string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.gvw, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(append(cmd.Environ(), "HADOOP_CONF_DIR="+s.cluster.ConfDir(), "KRB5_CONFIG="+s.realm.Conf(), "KRB5CCNAME="+filepath.Join(cmd.Dir, "none")), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// A job reads its data from a cluster with logins and encryption, and writes its model there.
func TestHDFSWithKerberos(t *testing.T) {
	s := start(t)
	data, err := harness.Gunzip("../../testdata/golden/s1000.vw.gz")
	if err != nil {
		t.Fatal(err)
	}
	text := []byte(data)
	local := filepath.Join(t.TempDir(), "model")
	part := filepath.Join(t.TempDir(), "train.vw")
	if err := os.WriteFile(part, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := s.run(t, nil, "-d", part, "-f", local); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want, err := os.ReadFile(local)
	if err != nil {
		t.Fatal(err)
	}
	ada := s.files(t, "native", "ada")
	put(t, ada, s.cluster.HDFS()+"/train.vw", text)
	ticket, err := s.realm.Ticket(t.Context(), s.keytab, "ada")
	if err != nil {
		t.Fatal(err)
	}
	tokens := filepath.Join(t.TempDir(), "tokens")
	fetch := s.cluster.Command(t.Context(), "hdfs", "fetchdt", tokens)
	fetch.Env = append(fetch.Env, "KRB5CCNAME="+ticket, "KRB5_CONFIG="+s.realm.Conf())
	if out, err := fetch.CombinedOutput(); err != nil {
		t.Fatalf("hdfs fetchdt: %v\n%s", err, out)
	}
	trusts := "SSL_CERT_FILE=" + s.cluster.Authority()
	byKeytab := []string{"--hdfs_keytab", s.keytab, "--hdfs_principal", "ada@" + kdc.Realm}
	for _, c := range []struct {
		name string
		env  []string
		way  string // client, or swebhdfs
		args []string
	}{
		{"native-keytab", nil, "native", byKeytab},
		{"native-ticket", []string{"KRB5CCNAME=FILE:" + ticket}, "native", nil},
		{"webhdfs-keytab", nil, "webhdfs", byKeytab},
		{"webhdfs-ticket", []string{"KRB5CCNAME=" + ticket}, "webhdfs", nil},
		{"webhdfs-token", []string{"HADOOP_TOKEN_FILE_LOCATION=" + tokens}, "webhdfs", nil},
		{"swebhdfs-ticket", []string{trusts, "KRB5CCNAME=" + ticket}, "swebhdfs", nil},
		{"swebhdfs-token", []string{trusts, "HADOOP_TOKEN_FILE_LOCATION=" + tokens}, "swebhdfs", nil},
		// As in a container of YARN: tokens, and no ticket.
		{"auto-token", []string{trusts, "HADOOP_TOKEN_FILE_LOCATION=" + tokens}, "auto", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			at, model := s.cluster.HDFS(), "/model-"+c.name
			if c.way == "swebhdfs" {
				at = s.cluster.SecureWebHDFS()
			} else {
				c.args = append(c.args, "--hdfs_client", c.way)
			}
			args := append([]string{"-d", at + "/train.vw", "-f", at + model}, c.args...)
			out, err := s.run(t, c.env, args...)
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if c.way == "auto" && (!strings.Contains(out, "by=webhdfs") || !strings.Contains(out, "not_native=")) {
				t.Errorf("without a ticket, auto does not use WebHDFS: %s", out)
			}
			if got := get(t, ada, s.cluster.HDFS()+model); !bytes.Equal(got, want) {
				t.Errorf("the model has %d bytes that are not those of a local run (%d)", len(got), len(want))
			}
		})
	}
	for _, c := range []struct {
		name string
		args []string
		want []string
	}{
		{"no-login", nil, []string{"the cluster needs Kerberos", "kinit", "keytab"}},
		{"other-principal", []string{"--hdfs_keytab", s.keytab, "--hdfs_principal", "eve@" + kdc.Realm}, []string{"eve@" + kdc.Realm, "not found in Kerberos database"}},
		{"no-keytab", []string{"--hdfs_keytab", filepath.Join(t.TempDir(), "none"), "--hdfs_principal", "ada@" + kdc.Realm}, []string{"cannot read the keytab"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, client := range []string{"native", "webhdfs"} {
				out, err := s.run(t, nil, append([]string{"-d", s.cluster.HDFS() + "/train.vw", "--quiet", "--hdfs_client", client}, c.args...)...)
				if err == nil {
					t.Fatalf("%s: gvw reads the data", client)
				}
				for _, w := range c.want {
					if !strings.Contains(out, w) {
						t.Errorf("%s: the error does not say %q: %s", client, w, out)
					}
				}
			}
		})
	}
	t.Run("unknown-authority", func(t *testing.T) {
		out, err := s.run(t, []string{"KRB5CCNAME=" + ticket}, "-d", s.cluster.SecureWebHDFS()+"/train.vw", "--quiet")
		if err == nil || !strings.Contains(out, "certificate signed by unknown authority") || !strings.Contains(out, "SSL_CERT_FILE") {
			t.Errorf("gvw uses a server whose authority it does not know, or the error names no remedy: %v\n%s", err, out)
		}
	})
	if yarnJob != nil {
		t.Run("job", func(t *testing.T) { yarnJob(s, t, ticket, text) })
	}
	t.Run("renewal", s.renewal)
}

// A client with a keytab works for longer than a ticket lasts; one with an expired ticket says so.
func (s *site) renewal(t *testing.T) {
	clients := map[string]*hdfsio.URLs{"native": s.files(t, "native", "bob"), "webhdfs": s.files(t, "webhdfs", "bob")}
	name := func(client string) string { return s.cluster.HDFS() + "/long-" + client }
	for client, bob := range clients {
		put(t, bob, name(client), []byte("before"))
	}
	expired, err := s.realm.Ticket(t.Context(), s.keytab, "bob")
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(bobsLife + 2*time.Second) // by the clock of the realm
	for client, bob := range clients {
		if got := get(t, bob, name(client)); string(got) != "before" {
			t.Errorf("%s: got %q", client, got)
		}
		put(t, bob, name(client)+"-after", []byte("after"))
	}
	out, err := s.run(t, []string{"KRB5CCNAME=" + expired}, "-d", s.cluster.HDFS()+"/train.vw", "--quiet", "--hdfs_client", "webhdfs")
	if err == nil || !strings.Contains(out, "kinit") {
		t.Errorf("with a ticket that has expired: %v\n%s", err, out)
	}
}

// files returns the cluster's files as a user with a keytab.
func (s *site) files(t *testing.T, client, user string) *hdfsio.URLs {
	t.Helper()
	conf, err := siteconf.Load(s.cluster.ConfDir(), os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	u := &hdfsio.URLs{Dial: hdfs.Dialer(hdfs.Config{
		Client: client, Conf: conf, User: "nobody", KerberosConf: s.realm.Conf(), Keytab: s.keytab, Principal: user + "@" + kdc.Realm,
		Host: "here", Pid: os.Getpid(), Spool: t.TempDir(), Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})}
	t.Cleanup(func() { check(t, u.Close()) })
	return u
}

func put(t *testing.T, u *hdfsio.URLs, name string, text []byte) {
	t.Helper()
	w, err := u.Create(t.Context(), name)
	if err == nil {
		_, err = w.Write(text)
		err = errors.Join(err, w.Commit())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, u *hdfsio.URLs, name string) []byte {
	t.Helper()
	r, err := u.Open(t.Context(), name, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
