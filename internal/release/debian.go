// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/md5"
	"fmt"
	"slices"
	"strings"
)

// debian returns the Debian package of an architecture, with the files of the system. It depends on
// nothing: the programs are static.
func (r *release) debian(goarch string, files []file) []byte {
	content := slices.Clone(files)
	for i, f := range content {
		name := f.name
		if strings.HasPrefix(name, zshFunctions) {
			name = "usr/share/zsh/vendor-completions/" + strings.TrimPrefix(name, zshFunctions) // Debian's own folder
		}
		content[i].name = "./" + name
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
`, r.number(), goarch, (size+1023)/1024)
	return ar([]file{
		{"debian-binary", 0o644, []byte("2.0\n")},
		{"control.tar.gz", 0o644, tarred([]file{
			{"./control", 0o644, []byte(control)},
			{"./md5sums", 0o644, []byte(sums.String())},
			{"./postinst", 0o755, []byte(postinst)},
			{"./prerm", 0o755, []byte(prerm)},
		}, r.date)},
		{"data.tar.gz", 0o644, tarred(content, r.date)},
	}, r.date)
}

// A package in another root (dpkg --root) has no systemd there.
const postinst = `#!/bin/sh
set -e
if [ "$1" = configure ] && [ -z "${DPKG_ROOT:-}" ]; then
` + afterInstall + `fi
`

const prerm = `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -z "${DPKG_ROOT:-}" ]; then
` + beforeRemoval + `fi
`
