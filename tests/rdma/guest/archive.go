// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"bytes"
	"compress/gzip"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// libraryDirs are the folders in which shared libraries are searched.
var libraryDirs = []string{"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib"}

// entry is a file of the guest.
type entry struct {
	mode uint32
	data []byte
}

const (
	folder     = 0o040755
	program    = 0o100755
	plain      = 0o100644
	symlink    = 0o120777
	charDevice = 0o020666
)

// tree is the guest's files by path, without a slash before it.
type tree map[string]entry

// put adds a file and the folders above it.
func (t tree) put(name string, mode uint32, data []byte) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if _, ok := t[dir]; !ok {
			t[dir] = entry{mode: folder}
		}
	}
	t[name] = entry{mode, data}
}

// add adds a file of the host, and the shared libraries that it needs.
func (t tree) add(file, name string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	mode := uint32(plain)
	if info.Mode()&0o111 != 0 {
		mode = program
	}
	t.put(name, mode, data)
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil // not a program
	}
	libs, err := f.ImportedLibraries()
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if p := f.Section(".interp"); p != nil {
		loader, err := p.Data()
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		libs = append(libs, string(bytes.TrimRight(loader, "\x00")))
	}
	for _, lib := range libs {
		if err := t.library(lib); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

// library adds a shared library where programs look for it.
func (t tree) library(lib string) error {
	if path.IsAbs(lib) {
		return t.once(lib, lib[1:])
	}
	for _, dir := range libraryDirs {
		if file := filepath.Join(dir, lib); exists(file) {
			return t.once(file, "lib/x86_64-linux-gnu/"+lib)
		}
	}
	return fmt.Errorf("no %s in %v", lib, libraryDirs)
}

func (t tree) once(file, name string) error {
	if _, ok := t[name]; ok {
		return nil
	}
	return t.add(file, name)
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// write writes the archive that a kernel unpacks into its memory: cpio's "newc" format,
// in gzip.
func (t tree) write(w io.Writer) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return err
	}
	at := 0
	pad := func() {
		n := (4 - at%4) % 4
		_, e := z.Write(make([]byte, n))
		err, at = errors.Join(err, e), at+n
	}
	one := func(ino int, name string, e entry, major, minor int) {
		links := 1
		if e.mode == folder {
			links = 2
		}
		head := fmt.Sprintf("070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00",
			ino, e.mode, 0, 0, links, 0, len(e.data), 0, 0, major, minor, len(name)+1, 0, name)
		n, e1 := io.WriteString(z, head)
		at += n
		pad()
		n, e2 := z.Write(e.data)
		at += n
		pad()
		err = errors.Join(err, e1, e2)
	}
	for i, name := range slices.Sorted(maps.Keys(t)) {
		major, minor := 0, 0
		if t[name].mode == charDevice {
			major, minor = 5, 1 // the console is the only device
		}
		one(i+1, name, t[name], major, minor)
	}
	one(0, "TRAILER!!!", entry{}, 0, 0)
	return errors.Join(err, z.Close())
}
