// SPDX-License-Identifier: Apache-2.0

//go:build unix

package hdfsio

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// A link in a world-writable directory is followed only if this user has made it.
func TestPlantedLinks(t *testing.T) {
	shared := filepath.Join(t.TempDir(), "tmp")
	if err := os.Mkdir(shared, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(shared, 0o777|fs.ModeSticky); err != nil {
		t.Fatal(err)
	}
	target, link := filepath.Join(t.TempDir(), "target"), filepath.Join(shared, "link")
	if err := os.WriteFile(target, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	f, err := Local{}.Create(t.Context(), link)
	if err != nil {
		t.Fatalf("a link of one's own: %v", err)
	}
	if err := f.Abort(); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can give a link to another user")
	}
	if err := os.Lchown(link, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if _, err := (Local{}).Create(t.Context(), link); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("Create follows the link of another user: %v", err)
	}
	if _, err := (Local{}).CreateNow(link); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("CreateNow follows the link of another user: %v", err)
	}
	if b, err := os.ReadFile(target); err != nil || string(b) != "mine" {
		t.Errorf("the target has %q, %v", b, err)
	}
	// In a directory that only its owner can write, all links are followed.
	if err := os.Chmod(shared, 0o700); err != nil {
		t.Fatal(err)
	}
	if f, err := (Local{}).Create(t.Context(), link); err != nil {
		t.Errorf("a folder of one's own: %v", err)
	} else if err := f.Abort(); err != nil {
		t.Error(err)
	}
}
