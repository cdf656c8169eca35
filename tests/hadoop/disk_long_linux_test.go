// SPDX-License-Identifier: Apache-2.0

//go:build long

package hadoop

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// tinyDisk returns a folder with room for some kilobytes, or skips the test.
func tinyDisk(t *testing.T, options string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "disk")
	mountTiny(t, dir, options)
	return dir
}

// mountTiny mounts a disk of a few pages or megabytes at dir until the test ends, or skips the
// test.
func mountTiny(t *testing.T, dir, options string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		if os.Getenv("REQUIRE_ALL") == "1" {
			t.Fatal("REQUIRE_ALL=1, and a tmpfs cannot be mounted: ", err)
		}
		t.Skipf("needs to mount a tmpfs (root): %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

// When the disk of the maps' caches is full, the job ends soon, and the gateway names the file
// and the rank that had no room.
func TestTheDiskIsFull(t *testing.T) {
	in := smallInput(t)
	dir := tinyDisk(t, "size=16k,mode=777")
	s := submit(t, in.hdfs, append(hybrid(), "--cache_file", dir+"/c.{rank}", "--attempts", "1")...)
	s.wait(3)
	s.said("no space left on device", dir+"/c.")
}
