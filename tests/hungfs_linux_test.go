// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// hungFS is a FUSE file system with one file. A read that ends after byte at hangs until the
// kernel interrupts it, as it does when the reading process ends. After that the file system
// works.
type hungFS struct {
	fd   int
	data []byte
	at   uint64

	mu    sync.Mutex
	hangs map[uint64]bool // the requests that are not answered
	works bool
}

// The opcodes and the errors of the FUSE protocol that are used here.
const (
	fuseLookup, fuseForget, fuseGetattr, fuseOpen, fuseRead     = 1, 2, 3, 14, 15
	fuseRelease, fuseInit, fuseInterrupt, fuseFlush, fuseForgot = 18, 26, 36, 25, 42

	fuseFile = 2 // the node of the file; the root is 1
)

// mountHungFS mounts a file system, and returns the path of its file.
func mountHungFS(t *testing.T, data string, at int) string {
	t.Helper()
	dir := t.TempDir()
	h := &hungFS{data: []byte(data), at: uint64(at), hangs: map[uint64]bool{}}
	err := fmt.Errorf("no root")
	if os.Geteuid() == 0 {
		h.fd, err = syscall.Open("/dev/fuse", syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	}
	if err == nil {
		err = syscall.Mount("hung", dir, "fuse", syscall.MS_RDONLY|syscall.MS_NOSUID|syscall.MS_NODEV,
			fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", h.fd))
	}
	if err != nil {
		why := fmt.Sprintf("needs root and /dev/fuse to mount a file system that hangs: %v", err)
		if os.Getenv("REQUIRE_ALL") == "1" {
			t.Fatal("REQUIRE_ALL=1, and this " + why)
		}
		t.Skip(why)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		h.serve()
	}()
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH|syscall.MNT_FORCE); err != nil {
			t.Error(err)
		}
		<-served
		syscall.Close(h.fd)
	})
	return filepath.Join(dir, "data")
}

// serve answers requests until the file system is unmounted.
func (h *hungFS) serve() {
	buf := make([]byte, 1<<20)
	for {
		n, err := syscall.Read(h.fd, buf)
		switch {
		case err == syscall.EINTR || err == syscall.ENOENT: // the request was taken back
		case err != nil:
			return
		default:
			h.request(buf[:n])
		}
	}
}

var host = binary.NativeEndian

func (h *hungFS) request(b []byte) {
	op, id, node, body := host.Uint32(b[4:]), host.Uint64(b[8:]), host.Uint64(b[16:]), b[40:]
	switch op {
	case fuseInit:
		out := make([]byte, 64)
		host.PutUint32(out, 7)
		host.PutUint32(out[4:], 31)
		host.PutUint32(out[20:], 1<<17)
		h.answer(id, 0, out)
	case fuseLookup:
		if string(body[:len(body)-1]) != "data" {
			h.answer(id, syscall.ENOENT, nil)
			return
		}
		out := make([]byte, 40)
		host.PutUint64(out, fuseFile)
		h.answer(id, 0, h.appendAttributes(out, fuseFile))
	case fuseGetattr:
		h.answer(id, 0, h.appendAttributes(make([]byte, 16), node))
	case fuseOpen:
		out := make([]byte, 16)
		host.PutUint32(out[8:], 1) // no page cache
		h.answer(id, 0, out)
	case fuseRead:
		from, size := host.Uint64(body[8:]), host.Uint32(body[16:])
		end := min(from+uint64(size), uint64(len(h.data)))
		h.mu.Lock()
		hangs := !h.works && end > h.at
		if hangs {
			h.hangs[id] = true
		}
		h.mu.Unlock()
		if !hangs {
			h.answer(id, 0, h.data[min(from, end):end])
		}
	case fuseInterrupt:
		h.mu.Lock()
		id := host.Uint64(body)
		hangs := h.hangs[id]
		if hangs {
			delete(h.hangs, id)
			h.works = true
		}
		h.mu.Unlock()
		if hangs {
			h.answer(id, syscall.EINTR, nil)
		}
	case fuseForget, fuseForgot: // have no answer
	case fuseRelease, fuseFlush:
		h.answer(id, 0, nil)
	default:
		h.answer(id, syscall.ENOSYS, nil)
	}
}

// appendAttributes appends a fuse_attr.
func (h *hungFS) appendAttributes(dst []byte, node uint64) []byte {
	a := make([]byte, 88)
	host.PutUint64(a, node)
	host.PutUint64(a[8:], uint64(len(h.data)))
	mode := uint32(syscall.S_IFREG | 0o444)
	if node != fuseFile {
		mode = syscall.S_IFDIR | 0o555
	}
	host.PutUint32(a[60:], mode)
	host.PutUint32(a[64:], 1)
	host.PutUint32(a[80:], 4096)
	return append(dst, a...)
}

func (h *hungFS) answer(id uint64, errno syscall.Errno, body []byte) {
	out := host.AppendUint32(nil, uint32(16+len(body)))
	out = host.AppendUint32(out, uint32(-int32(errno)))
	out = host.AppendUint64(out, id)
	_, _ = syscall.Write(h.fd, append(out, body...)) // the kernel may have cancelled the request
}

// TestInputHangs: the file system of a rank's data, or of the initial model, hangs in the
// middle of the file. The log of rank 1 names the file, and its attempt ends with exit code 5.
// The next attempt finds the file system working, and the job delivers the model of an
// undisturbed job.
func TestInputHangs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	shards(t, dir, writeFile(t, filepath.Join(dir, "s.vw"), recoveryData(t)), 2)
	gvw(t, dir, strings.Fields("-d s.vw --loss_function logistic -f initial")...)
	for _, name := range []string{"part.1", "initial"} {
		t.Run(name, func(t *testing.T) {
			options := strings.Fields("run -n 2 --log_dir " + name + ".logs -- -d part.{rank} -i initial --loss_function logistic --passes 2 --holdout_off -k " +
				"--cache_file " + name + ".{rank}.cache --file_timeout 6s -f " + name + ".model")
			gvw(t, dir, options...)
			want, text := readFile(t, filepath.Join(dir, name+".model")), readFile(t, filepath.Join(dir, name))
			hung := mountHungFS(t, text, len(text)/2)
			if err := errors.Join(os.Remove(filepath.Join(dir, name)), os.Symlink(hung, filepath.Join(dir, name))); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				_ = os.Remove(filepath.Join(dir, name))
				writeFile(t, filepath.Join(dir, name), text)
			})
			r := gvw(t, dir, options...)
			if got := readFile(t, filepath.Join(dir, name+".model")); got != want {
				t.Error("the model differs from that of a job without the fault")
			}
			if !strings.Contains(r.stderr, "rank 1 has ended (exit code 5") {
				t.Errorf("the launcher reports no attempt of rank 1 with exit code 5:\n%s", tail(r.stderr, 10))
			}
			log := strings.Split(readFile(t, filepath.Join(dir, name+".logs", "rank-01.log")), "\n")
			for _, want := range [][]string{
				{"waiting for the file system", "to=read", "file=" + name, "since=5s"},
				{"cannot read " + name, "does not respond", "after 6s"},
			} {
				if !slices.ContainsFunc(log, func(line string) bool {
					return !slices.ContainsFunc(want, func(w string) bool { return !strings.Contains(line, w) })
				}) {
					t.Errorf("no line of the log of rank 1 has all of %q:\n%s", want, strings.Join(log, "\n"))
				}
			}
		})
	}
}
