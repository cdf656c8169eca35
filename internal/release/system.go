// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/gvw-project/gvw/internal/manual"
)

// zshFunctions is the folder of completions that zsh itself searches.
const zshFunctions = "usr/share/zsh/site-functions/"

// The scripts of packages. The user gvw stays after a removal, since files of its own may.
const (
	afterInstall = `	if command -v systemd-sysusers >/dev/null; then
		systemd-sysusers gvw.conf
	elif ! getent passwd gvw >/dev/null && command -v useradd >/dev/null; then
		useradd --system --user-group --no-create-home --home-dir /var/lib/gvw --shell /usr/sbin/nologin gvw
	fi
	if [ -d /run/systemd/system ]; then
		systemctl daemon-reload || true
	fi
`
	beforeRemoval = `	if [ -d /run/systemd/system ]; then
		systemctl --no-reload disable --now spanning_tree.service || true
	fi
`
)

// describe makes the completions and the manual pages of both programs: it builds and runs them for
// this machine. Names are those in the archives.
func (r *release) describe() error {
	host := runtime.GOOS + "/" + runtime.GOARCH
	for _, name := range programs {
		if _, err := r.build(name, r.path(name, host), host); err != nil {
			return err
		}
	}
	run := func(words ...string) (string, error) {
		text, err := exec.Command(r.path(words[0], host), words[1:]...).Output()
		return string(text), err
	}
	help, err := run("spanning_tree", "--help")
	if err != nil {
		return err
	}
	server := manual.FromHelp("spanning_tree", 8, help)
	for _, shell := range manual.Shells {
		text, err := run("gvw", "completion", shell)
		if err != nil {
			return err
		}
		for name, text := range map[string]string{"gvw": text, "spanning_tree": server.Completion(shell)} {
			file := map[string]string{"bash": name + ".bash", "zsh": "_" + name, "fish": name + ".fish"}[shell]
			r.texts = append(r.texts, plainFile("completions/"+file, []byte(text)))
		}
	}
	pages := filepath.Join(r.programs, "man")
	if err := os.Mkdir(pages, 0o755); err != nil {
		return err
	}
	if _, err := run("gvw", "completion", "man", pages); err != nil {
		return err
	}
	names, err := os.ReadDir(pages)
	if err != nil {
		return err
	}
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(pages, name.Name()))
		if err != nil {
			return err
		}
		r.texts = append(r.texts, plainFile("man/"+name.Name(), data))
	}
	for _, page := range server.Pages(r.version, r.day()) {
		r.texts = append(r.texts, plainFile("man/"+page.Name, page.Text))
	}
	sortFiles(r.texts)
	return nil
}

// plainFile returns a file that all may read.
func plainFile(name string, data []byte) file { return file{name, 0o644, data} }

// system returns the files of a package for a system, of those of an archive: programs, documents,
// completions, manual pages, and the unit of spanning_tree, which the administrator enables, with
// its user.
func (r *release) system(files []file) ([]file, error) {
	var content []file
	for _, f := range files {
		base := filepath.Base(f.name)
		switch {
		case f.mode&0o111 != 0:
			f.name = "usr/bin/" + f.name
		case f.name == "LICENSE":
			f.name = "usr/share/doc/gvw/copyright"
		case strings.HasPrefix(f.name, "man/"):
			f = plainFile("usr/share/man/man"+f.name[len(f.name)-1:]+"/"+base+".gz", compressed(f.data))
		case strings.HasSuffix(f.name, ".bash"):
			f.name = "usr/share/bash-completion/completions/" + strings.TrimSuffix(base, ".bash")
		case strings.HasSuffix(f.name, ".fish"):
			f.name = "usr/share/fish/vendor_completions.d/" + base
		case strings.HasPrefix(f.name, "completions/"):
			f.name = zshFunctions + base
		default:
			f.name = "usr/share/doc/gvw/" + f.name
		}
		content = append(content, f)
	}
	for _, names := range [][2]string{
		{"spanning_tree.service", "usr/lib/systemd/system/spanning_tree.service"},
		{"gvw.sysusers", "usr/lib/sysusers.d/gvw.conf"},
	} {
		data, err := os.ReadFile(filepath.Join(r.root, "packaging", names[0]))
		if err != nil {
			return nil, err
		}
		content = append(content, plainFile(names[1], data))
	}
	sortFiles(content)
	return content, nil
}

// compressed returns the data as gzip -n writes it, without a name and a time.
func compressed(data []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	must(err)
	_, err = w.Write(data)
	must(err)
	must(w.Close())
	return b.Bytes()
}
