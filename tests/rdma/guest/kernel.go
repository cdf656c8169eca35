// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Kernel is an unpacked kernel and its modules.
type Kernel struct {
	Image   string   // a file that QEMU boots
	Modules []string // files, each after those that it needs
}

// ErrMissing reports that no guest can run here. The error's text has the reason.
var ErrMissing = errors.New("no guest can be run here")

// wanted are the modules that the guest loads, besides their dependencies. Soft-RoCE requests
// crc32 by a name that no dependency lists.
var wanted = []string{"crc32", "crc32_generic", "ib_uverbs", "rdma_rxe", "veth"}

// packages are the packages that the host needs, each with one of its files.
var packages = []struct{ file, name string }{
	{"/usr/bin/qemu-system-x86_64", "qemu-system-x86"},
	{"/bin/busybox", "busybox-static"},
	{"/etc/libibverbs.d/rxe.driver", "ibverbs-providers"},
	{"/usr/bin/rdma", "iproute2"},
	{"/usr/bin/xz", "xz-utils"},
}

// Prepare finds the tools and the kernel. It calls install with the Debian packages of missing
// tools. A missing kernel is downloaded from Debian's archive to the folder cache; "" is a
// folder of the user's cache.
func Prepare(ctx context.Context, cache string, install func(packages []string) error, logf func(string, ...any)) (*Kernel, error) {
	if err := tools(install); err != nil {
		return nil, err
	}
	if cache == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return nil, err
		}
		cache = filepath.Join(base, "gvw-rdma")
	}
	if found, err := filepath.Glob(filepath.Join(cache, "*", "order")); err == nil && len(found) > 0 {
		return load(filepath.Dir(slices.Max(found)))
	}
	return fetch(ctx, cache, logf)
}

// missing is ErrMissing with a reason.
func missing(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrMissing, fmt.Errorf(format, args...))
}

// output runs a program, and adds its output to its error.
func output(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "env", append([]string{"DEBIAN_FRONTEND=noninteractive", "LC_ALL=C", name}, args...)...)
	cmd.Dir = dir
	var out, talk bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &talk
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, bytes.TrimSpace(talk.Bytes()))
	}
	return out.Bytes(), nil
}

// tools lets install install the packages that are missing.
func tools(install func(packages []string) error) error {
	var need []string
	for _, p := range packages {
		if _, err := os.Stat(p.file); err != nil {
			need = append(need, p.name)
		}
	}
	if len(need) == 0 {
		return nil
	}
	if err := install(need); err != nil {
		return missing("it needs %s: %w", strings.Join(need, ", "), err)
	}
	return nil
}

// fetch downloads the kernel and unpacks it to a folder of the cache, which appears as a
// whole or not at all.
func fetch(ctx context.Context, cache string, logf func(string, ...any)) (*Kernel, error) {
	name, err := kernelPackage(ctx)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp(cache, "new-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	logf("downloading %s", name)
	if _, err := output(ctx, tmp, "apt-get", "download", "-qq", name); err != nil {
		// An old package list names versions that no longer exist.
		if _, err := output(ctx, "", "apt-get", "update", "-qq"); err != nil {
			return nil, missing("%w", err)
		}
		if name, err = kernelPackage(ctx); err != nil {
			return nil, err
		}
		if _, err := output(ctx, tmp, "apt-get", "download", "-qq", name); err != nil {
			return nil, missing("%w", err)
		}
	}
	debs, _ := filepath.Glob(filepath.Join(tmp, "*.deb"))
	if len(debs) != 1 {
		return nil, missing("apt-get download %s brought %d packages", name, len(debs))
	}
	if _, err := output(ctx, tmp, "dpkg-deb", "-x", debs[0], "tree"); err != nil {
		return nil, missing("%w", err)
	}
	ready := filepath.Join(tmp, "ready")
	if err := errors.Join(os.Mkdir(ready, 0o755), unpack(ctx, filepath.Join(tmp, "tree"), ready)); err != nil {
		return nil, missing("%s: %w", name, err)
	}
	place := filepath.Join(cache, name)
	if err := os.Rename(ready, place); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	return load(place)
}

// kernelPackage returns Debian's current kernel package. The one for clouds lacks Soft-RoCE.
func kernelPackage(ctx context.Context) (string, error) {
	for range 2 {
		out, err := output(ctx, "", "apt-cache", "depends", "linux-image-amd64")
		for line := range strings.Lines(string(out)) {
			if name, ok := strings.CutPrefix(strings.TrimSpace(line), "Depends: linux-image-"); err == nil && ok {
				return "linux-image-" + name, nil
			}
		}
		if _, err := output(ctx, "", "apt-get", "update", "-qq"); err != nil {
			return "", missing("%w", err)
		}
	}
	return "", missing("apt knows no linux-image-amd64: is this Debian on amd64?")
}

// unpack takes the kernel and the modules out of a package's tree.
func unpack(ctx context.Context, tree, ready string) error {
	images, _ := filepath.Glob(filepath.Join(tree, "boot", "vmlinuz-*"))
	if len(images) != 1 {
		return fmt.Errorf("%d kernels in it, want 1", len(images))
	}
	img, err := os.ReadFile(images[0])
	if err != nil {
		return err
	}
	// The file holds the kernel compressed. Unpacked here it boots some seconds sooner.
	if plain, err := payload(ctx, img); err == nil {
		img = plain
	}
	if err := os.WriteFile(filepath.Join(ready, "kernel"), img, 0o644); err != nil {
		return err
	}
	files := map[string]string{}
	err = filepath.WalkDir(tree, func(path string, _ os.DirEntry, err error) error {
		base := strings.TrimSuffix(filepath.Base(path), ".xz")
		if name, ok := strings.CutSuffix(base, ".ko"); ok {
			files[strings.ReplaceAll(name, "-", "_")] = path
		}
		return err
	})
	if err != nil {
		return err
	}
	if files["rdma_rxe"] == "" {
		return errors.New("it has no module rdma_rxe")
	}
	var order []string
	var add func(name string) error
	add = func(name string) error {
		path := files[name]
		if path == "" || slices.Contains(order, name) {
			return nil // built in, or here
		}
		mod, err := os.ReadFile(path)
		if err == nil && strings.HasSuffix(path, ".xz") {
			mod, err = output(ctx, "", "xz", "-dc", path)
		}
		if err != nil {
			return err
		}
		needs, err := dependencies(mod)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		for _, n := range needs {
			if err := add(n); err != nil {
				return err
			}
		}
		order = append(order, name)
		return os.WriteFile(filepath.Join(ready, name+".ko"), mod, 0o644)
	}
	for _, name := range wanted {
		if err := add(name); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(ready, "order"), []byte(strings.Join(order, "\n")), 0o644)
}

// payload returns the kernel within a boot image, whose header says where it is.
func payload(ctx context.Context, img []byte) ([]byte, error) {
	if len(img) < 1024 || string(img[0x202:0x206]) != "HdrS" {
		return nil, errors.New("no boot header")
	}
	le := binary.LittleEndian
	at := (int(img[0x1f1])+1)*512 + int(le.Uint32(img[0x248:]))
	n := int(le.Uint32(img[0x24c:])) - 4 // its length is at the end
	if at < 0 || n < 4 || at+n > len(img) {
		return nil, errors.New("the boot header names no payload")
	}
	packed := img[at : at+n]
	program := ""
	switch {
	case bytes.HasPrefix(packed, []byte{0xfd, '7', 'z'}):
		program = "xz"
	case bytes.HasPrefix(packed, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		program = "zstd"
	case bytes.HasPrefix(packed, []byte{0x1f, 0x8b}):
		program = "gzip"
	default:
		return nil, errors.New("it is packed in an unknown way")
	}
	cmd := exec.CommandContext(ctx, program, "-dc")
	cmd.Stdin = bytes.NewReader(packed)
	plain, err := cmd.Output()
	if err == nil && !bytes.HasPrefix(plain, []byte("\x7fELF")) {
		err = errors.New("it is no ELF file")
	}
	return plain, err
}

// dependencies returns the modules that a module needs.
func dependencies(mod []byte) ([]string, error) {
	f, err := elf.NewFile(bytes.NewReader(mod))
	if err != nil {
		return nil, err
	}
	info := f.Section(".modinfo")
	if info == nil {
		return nil, errors.New("it is no module")
	}
	data, err := info.Data()
	if err != nil {
		return nil, err
	}
	for line := range bytes.SplitSeq(data, []byte{0}) {
		if list, ok := strings.CutPrefix(string(line), "depends="); ok && list != "" {
			return strings.Split(strings.ReplaceAll(list, "-", "_"), ","), nil
		}
	}
	return nil, nil
}

// load returns the kernel that unpack has written.
func load(dir string) (*Kernel, error) {
	order, err := os.ReadFile(filepath.Join(dir, "order"))
	if err != nil {
		return nil, err
	}
	k := &Kernel{Image: filepath.Join(dir, "kernel")}
	for name := range strings.FieldsSeq(string(order)) {
		k.Modules = append(k.Modules, filepath.Join(dir, name+".ko"))
	}
	return k, nil
}
