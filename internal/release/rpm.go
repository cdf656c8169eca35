// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"path"

	"github.com/google/rpmpack"
)

// rpmArchitectures are rpm's names of Go's architectures.
var rpmArchitectures = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

// rpm returns the RPM package of an architecture, with the files of the system, and its name.
func (r *release) rpm(goarch string, files []file) (name string, data []byte, err error) {
	arch := rpmArchitectures[goarch]
	p, err := rpmpack.NewRPM(rpmpack.RPMMetaData{
		Name: "gvw", Version: r.number(), Release: "1", Arch: arch, OS: "linux",
		Summary: "Linear models on a cluster, as Vowpal Wabbit trains them",
		Description: `gvw trains linear models on one machine or many, with Vowpal Wabbit's command
line, data and models. spanning_tree is the server through which the ranks of
a job find each other.`,
		Licence: "Apache-2.0", Group: "Applications/Engineering", Packager: "The gvw maintainers <maintainers@gvw.invalid>",
		BuildHost: "gvw.invalid", BuildTime: r.date, Compressor: "gzip:9", Epoch: rpmpack.NoEpoch,
	})
	if err != nil {
		return "", nil, err
	}
	p.AddPostin(afterInstall)
	p.AddPreun("if [ \"$1\" = 0 ]; then\n" + beforeRemoval + "fi\n")
	add := func(name string, mode uint, body []byte, kind rpmpack.FileType) {
		p.AddFile(rpmpack.RPMFile{Name: name, Body: body, Mode: mode, Owner: "root", Group: "root", MTime: uint32(r.date.Unix()), Type: kind})
	}
	for _, f := range files {
		kind := rpmpack.GenericFile
		switch dir := path.Dir(f.name); {
		case dir == "usr/share/doc/gvw" && path.Base(f.name) == "copyright":
			kind = rpmpack.LicenceFile | rpmpack.DocFile
		case dir == "usr/share/doc/gvw", path.Dir(dir) == "usr/share/man":
			kind = rpmpack.DocFile
		}
		add("/"+f.name, uint(f.mode), f.data, kind)
	}
	add("/usr/share/doc/gvw", 0o40755, nil, rpmpack.GenericFile)
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("gvw-%s-1.%s.rpm", r.number(), arch), b.Bytes(), nil
}
