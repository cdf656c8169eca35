// SPDX-License-Identifier: Apache-2.0

package auth

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestHandedFiles lets the group read a file that root has made for another user.
func TestHandedFiles(t *testing.T) {
	t.Parallel()
	for mode, want := range map[fs.FileMode][2]bool{
		0o400: {true, true}, 0o600: {true, true}, 0o440: {true, false}, 0o640: {true, false},
		0o660: {}, 0o450: {}, 0o444: {}, 0o404: {}, 0o402: {}, 0o401: {},
	} {
		if got := [2]bool{permitted(mode, true), permitted(mode, false)}; got != want {
			t.Errorf("%04o: %v for a file that root has handed over and for one's own, want %v", mode, got, want)
		}
	}
}

func TestSecretFiles(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		text string
		mode os.FileMode
		want string // in the error; "": none
	}{
		"good":                {goodSecret + "\n", 0o600, ""},
		"read alone":          {goodSecret, 0o400, ""},
		"drawn":               {string(NewSecretText()), 0o600, ""},
		"the group reads":     {goodSecret, 0o640, "chmod 600"},
		"all read":            {goodSecret, 0o604, "chmod 600"},
		"others write":        {goodSecret, 0o602, "chmod 600"},
		"short":               {"fifteen bytes..", 0o600, "at least 16"},
		"short with newlines": {"fifteen bytes..\n\n\n", 0o600, "at least 16"},
		"empty":               {"", 0o600, "at least 16"},
		"a wrong file":        {strings.Repeat("x", MaxSecret+1), 0o600, "right file"},
	} {
		if runtime.GOOS == "windows" && c.want == "chmod 600" {
			continue
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, c.mode); err != nil {
			t.Fatal(err)
		}
		s, err := ReadSecret(path)
		if c.want == "" {
			if err != nil || s == nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		e, ok := errors.AsType[*Error](err)
		if !ok || e.File != path || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an *Error that names %s and %q", name, err, path, c.want)
		}
		if strings.Contains(fmt.Sprint(err), "fifteen") || strings.Contains(fmt.Sprint(err), goodSecret) {
			t.Errorf("%s: the error shows the secret: %v", name, err)
		}
	}
	if _, err := ReadSecret(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := ReadSecret(dir); err == nil || !strings.Contains(err.Error(), "directory") {
		t.Errorf("a directory: %v", err)
	}
}

func TestWhiteSpaceAtTheEndIsIgnored(t *testing.T) {
	if a, b := secretOf(t, goodSecret), secretOf(t, goodSecret+" \r\n"); a.key != b.key {
		t.Error("white space at the end makes another key")
	}
	if a, b := secretOf(t, goodSecret), secretOf(t, " "+goodSecret); a.key == b.key {
		t.Error("white space at the beginning is ignored")
	}
}

// No way of printing a secret reveals it.
func TestPrintingASecretHidesIt(t *testing.T) {
	s := secretOf(t, goodSecret)
	var b strings.Builder
	slog.New(slog.NewTextHandler(&b, nil)).Info("x", "secret", s, "creds", &Credentials{Secret: s})
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		fmt.Fprintf(&b, verb+"\n", s)
	}
	key := s.Control()
	for _, bad := range []string{goodSecret, fmt.Sprintf("%x", s.key[:4]), fmt.Sprint(s.key[:4]), fmt.Sprintf("%x", key[:4])} {
		if strings.Contains(b.String(), strings.Trim(bad, "[]")) {
			t.Errorf("%q is in %q", bad, &b)
		}
	}
}
