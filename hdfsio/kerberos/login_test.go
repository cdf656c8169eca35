// SPDX-License-Identifier: Apache-2.0

package kerberos

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		login Login
		want  []string // parts of the error; none: it is valid
	}{
		{Login{}, []string{"Conf", "Cache and Keytab"}},
		{Login{Conf: "c", Keytab: "k", Principal: "ada"}, []string{`"ada"`, "NAME@REALM"}},
		{Login{Conf: "c", Keytab: "k", Principal: "ada@R"}, nil},
		{Login{Conf: "c", Cache: "t"}, nil},
	} {
		err := c.login.Validate()
		if (err != nil) != (c.want != nil) {
			t.Errorf("%+v: %v", c.login, err)
		}
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: %v does not say %q", c.login, err, want)
			}
		}
	}
}

// A missing file of the login is named, and is not taken for a missing file of HDFS.
func TestMissingFiles(t *testing.T) {
	dir := t.TempDir()
	conf, none := filepath.Join(dir, "krb5.conf"), filepath.Join(dir, "none")
	if err := os.WriteFile(conf, []byte("[libdefaults]\n default_realm = R\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, l := range []Login{
		{Conf: none, Cache: none},
		{Conf: conf, Cache: none},
		{Conf: conf, Keytab: none, Principal: "ada@R"},
	} {
		_, err := l.Client()
		if err == nil || !strings.Contains(err.Error(), none) || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v: %v", &l, err)
		}
	}
}
