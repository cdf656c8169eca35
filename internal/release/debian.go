// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/md5"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// debian returns the Debian package of an architecture. It has the programs, the unit of
// spanning_tree, which the administrator enables, and its user. It depends on nothing: the
// programs are static.
func (r *release) debian(goarch string, files []file) ([]byte, error) {
	var content []file
	for _, f := range files {
		name := "usr/share/doc/gvw/" + f.name
		if f.mode&0o111 != 0 {
			name = "usr/bin/" + f.name
		}
		if f.name == "LICENSE" {
			name = "usr/share/doc/gvw/copyright"
		}
		content = append(content, file{"./" + name, f.mode, f.data})
	}
	for from, to := range map[string]string{
		"spanning_tree.service": "usr/lib/systemd/system/spanning_tree.service",
		"gvw.sysusers":          "usr/lib/sysusers.d/gvw.conf",
	} {
		data, err := os.ReadFile(filepath.Join(r.root, "packaging", from))
		if err != nil {
			return nil, err
		}
		content = append(content, file{"./" + to, 0o644, data})
	}
	sortFiles(content)
	size := 0
	var sums strings.Builder
	for _, f := range content {
		size += len(f.data)
		fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(f.data), strings.TrimPrefix(f.name, "./")) // the form that dpkg --verify reads
	}
	control := fmt.Sprintf(`Package: gvw
Version: %s
Architecture: %s
Maintainer: The gvw maintainers <maintainers@gvw.invalid>
Installed-Size: %d
Section: science
Priority: optional
Description: linear models on a cluster, as Vowpal Wabbit trains them
 gvw trains linear models on one machine or many, with Vowpal Wabbit's command
 line, data and models. spanning_tree is the server through which the ranks of
 a job find each other.
`, strings.TrimPrefix(r.version, "v"), goarch, (size+1023)/1024)
	return ar([]file{
		{"debian-binary", 0o644, []byte("2.0\n")},
		{"control.tar.gz", 0o644, tarred([]file{
			{"./control", 0o644, []byte(control)},
			{"./md5sums", 0o644, []byte(sums.String())},
			{"./postinst", 0o755, []byte(postinst)},
			{"./prerm", 0o755, []byte(prerm)},
		}, r.date)},
		{"data.tar.gz", 0o644, tarred(content, r.date)},
	}, r.date), nil
}

// A package in another root (dpkg --root) has no systemd there.
const postinst = `#!/bin/sh
set -e
if [ "$1" = configure ] && [ -z "${DPKG_ROOT:-}" ] && command -v systemd-sysusers >/dev/null; then
	systemd-sysusers gvw.conf
fi
`

const prerm = `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -z "${DPKG_ROOT:-}" ] && [ -d /run/systemd/system ]; then
	systemctl --no-reload disable --now spanning_tree.service || true
fi
`
