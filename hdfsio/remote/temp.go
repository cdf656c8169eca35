// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path"
	"strings"
)

// tempPrefix returns the prefix of the names of temporary files beside base. It contains the
// host and the process of the writer.
func (f *FS) tempPrefix(base string, pid int) string {
	return fmt.Sprintf(".%s.writing-%d-%s-", base, pid, f.cfg.Host)
}

// tempName returns a new name for a temporary file beside p.
func (f *FS) tempName(p string) string {
	dir, base := path.Split(p)
	aside := fmt.Sprintf("%s%s%08x", dir, f.tempPrefix(base, f.cfg.Pid), rand.Uint32())
	f.mu.Lock()
	defer f.mu.Unlock()
	f.temps[aside] = true
	return aside
}

// leave removes a temporary file, which may not exist.
func (f *FS) leave(aside string) error {
	err := f.b.Remove(aside)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.temps, aside)
		return nil
	}
	return err
}

// RemoveTemp removes the temporary files that a process of this machine has left of name. For
// this process itself it knows them without a listing.
func (f *FS) RemoveTemp(name string, pid int) error {
	p, err := f.path("remove", name)
	if err != nil {
		return err
	}
	dir, base := path.Split(p)
	begin := f.tempPrefix(base, pid)
	if pid == f.cfg.Pid {
		return f.removeOwn(name, dir+begin)
	}
	return f.removeTemps(name, dir, func(left string) bool { return strings.HasPrefix(left, begin) })
}

func (f *FS) removeOwn(name, begin string) error {
	f.mu.Lock()
	var own []string
	for aside := range f.temps {
		if strings.HasPrefix(aside, begin) {
			own = append(own, aside)
		}
	}
	f.mu.Unlock()
	var errs []error
	for _, aside := range own {
		if err := f.leave(aside); err != nil {
			errs = append(errs, f.error("remove", name, err))
		}
	}
	return errors.Join(errs...)
}

// RemoveTemps removes the temporary files that a process of this machine has left of all files
// whose names begin with prefix; pid 0: of any process of any machine.
func (f *FS) RemoveTemps(prefix string, pid int) error {
	p, err := f.path("remove", prefix)
	if err != nil {
		return err
	}
	if strings.HasSuffix(prefix, "/") {
		p += "/"
	}
	dir, base := path.Split(p)
	writing := f.tempPrefix("", pid)[1:]
	if pid == 0 {
		writing = ".writing-"
	}
	return f.removeTemps(prefix, dir, func(left string) bool {
		return strings.HasPrefix(left, "."+base) && strings.Contains(left, writing)
	})
}

func (f *FS) removeTemps(name, dir string, left func(base string) bool) error {
	infos, err := f.b.ReadDir(path.Clean(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nothing was written there
	}
	if err != nil {
		return f.error("list the directory of", name, err)
	}
	var errs []error
	for _, info := range infos {
		if left(info.Name) {
			if err := f.leave(path.Join(dir, info.Name)); err != nil {
				errs = append(errs, f.error("remove", f.cfg.Prefix+path.Join(dir, info.Name), err))
			}
		}
	}
	return errors.Join(errs...)
}
