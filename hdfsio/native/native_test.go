// SPDX-License-Identifier: Apache-2.0

package native

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/hdfsio/kerberos"
	"github.com/gvw-project/gvw/hdfsio/remote"
)

// refused is an error of the library with an exception of the name node.
type refused struct{ exception, message string }

func (e *refused) Error() string     { return "create call failed" }
func (e *refused) Method() string    { return "create" }
func (e *refused) Desc() string      { return "ERROR_APPLICATION" }
func (e *refused) Exception() string { return e.exception }
func (e *refused) Message() string   { return e.message }

func TestErrorsOfTheLibrary(t *testing.T) {
	quota := &fs.PathError{Op: "create", Path: "/q/x", Err: &refused{"org.apache.hadoop.hdfs.protocol.NSQuotaExceededException", "The NameSpace quota of /q is exceeded\n\tat org.apache"}}
	if err := explain(quota); err.Error() != "The NameSpace quota of /q is exceeded (NSQuotaExceededException)" || remote.Transient(err) {
		t.Errorf("a quota: %v, transient: %v", err, remote.Transient(err))
	}
	safe := &refused{"org.apache.hadoop.hdfs.server.namenode.SafeModeException", "Name node is in safe mode."}
	for what, c := range map[string]struct {
		err  error
		want bool
	}{
		"a data node is gone":       {broken(errors.New("EOF while reading")), true},
		"all name nodes are gone":   {explain(errors.New("no available namenodes: connection refused")), true},
		"the safe mode":             {broken(safe), true},
		"the quota, while writing":  {broken(quota), false},
		"what is missing":           {explain(&fs.PathError{Op: "open", Path: "/x", Err: fs.ErrNotExist}), false},
		"another way must be taken": {explain(fmt.Errorf("encrypted: %w", errors.ErrUnsupported)), false},
	} {
		if got := remote.Transient(c.err); got != c.want {
			t.Errorf("%s: %v: transient is %v", what, c.err, got)
		}
	}
	if explain(nil) != nil {
		t.Error("no error has become one")
	}
}

// A name node that does not listen, or that closes connections, makes every call fail with a
// transient error.
func TestANameNodeThatDoesNotAnswer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	}()
	c, err := New(Config{Nodes: []string{l.Addr().String()}, User: "ada"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		for name, call := range map[string]func() error{
			"stat":   func() error { _, err := c.Stat("/"); return err },
			"list":   func() error { _, err := c.ReadDir("/"); return err },
			"open":   func() error { _, err := c.Open("/x", 0); return err },
			"put":    func() error { return c.Put("/x", strings.NewReader(""), 0o600) },
			"rename": func() error { return c.Rename("/x", "/y", false) },
			"remove": func() error { return c.Remove("/x") },
			"mkdir":  func() error { return c.Mkdir("/x") },
		} {
			if err := call(); err == nil || !remote.Transient(err) {
				t.Errorf("%s: %v is not worth another try", name, err)
			}
		}
		if i == 0 { // then no process listens
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			<-done
		}
	}
	if err := errors.Join(c.Close(), c.Close()); err != nil {
		t.Error(err)
	}
}

func TestValidate(t *testing.T) {
	_, err := New(Config{Protection: "privacy", BlockSize: -1})
	for _, want := range []string{"Nodes", "User", "Protection", "BlockSize"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	_, err = New(Config{Nodes: []string{"nn:8020"}, Kerberos: &kerberos.Login{Keytab: "k", Principal: "ada"}})
	for _, want := range []string{"Conf", "NAME@REALM", "Service"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// Missing files of Kerberos are named.
func TestKerberosFiles(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	c, err := New(Config{Nodes: []string{"127.0.0.1:1"}, Kerberos: &kerberos.Login{Conf: none, Cache: none}, Service: "nn/_HOST@R"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Stat("/"); err == nil || !strings.Contains(err.Error(), none) || !strings.Contains(err.Error(), "KRB5_CONFIG") {
		t.Errorf("%v", err)
	}
}

// Data that the library would get wrong is left to other clients, before a connection is opened.
func TestProtectionsThatAreNotSupported(t *testing.T) {
	for _, c := range []struct {
		protection string
		aes, ok    bool
	}{{"", false, true}, {"authentication", false, true}, {"integrity", true, false}, {"privacy", false, false}, {"privacy", true, true}} {
		err := Config{Protection: c.protection, AES: c.aes}.transferable()
		if (err == nil) != c.ok || err != nil && (!errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), c.protection)) {
			t.Errorf("%q, AES %v: %v", c.protection, c.aes, err)
		}
	}
}
