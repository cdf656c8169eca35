// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// file is a file of an archive.
type file struct {
	name string
	mode fs.FileMode
	data []byte
}

// tarred returns a compressed tar archive, whose owner is root and whose times are date.
// Errors are those of writes to memory, which do not occur.
func tarred(files []file, date time.Time) []byte {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	must(err)
	w := tar.NewWriter(z)
	made := map[string]bool{".": true, "/": true}
	for _, f := range files {
		prefix := ""
		if strings.HasPrefix(f.name, "./") {
			prefix = "./"
		}
		for _, dir := range missing(made, path.Dir(f.name)) {
			must(w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: prefix + dir + "/", Mode: 0o755, ModTime: date.Truncate(time.Second), Uname: "root", Gname: "root", Format: tar.FormatGNU}))
		}
		must(w.WriteHeader(&tar.Header{Name: f.name, Mode: int64(f.mode), Size: int64(len(f.data)), ModTime: date.Truncate(time.Second), Uname: "root", Gname: "root", Format: tar.FormatGNU}))
		_, err := w.Write(f.data)
		must(err)
	}
	must(w.Close())
	must(z.Close())
	return b.Bytes()
}

// missing returns dir and the directories above it that are not made, outer ones first, and
// marks them.
func missing(made map[string]bool, dir string) []string {
	if made[dir] {
		return nil
	}
	made[dir] = true
	return append(missing(made, path.Dir(dir)), dir)
}

// zipped returns a zip archive.
func zipped(files []file, date time.Time) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: date.UTC()}
		h.SetMode(f.mode)
		out, err := w.CreateHeader(h)
		must(err)
		_, err = out.Write(f.data)
		must(err)
	}
	must(w.Close())
	return b.Bytes()
}

// ar returns an archive in the common form of ar, of which a Debian package consists.
func ar(files []file, date time.Time) []byte {
	b := []byte("!<arch>\n")
	for _, f := range files {
		b = fmt.Appendf(b, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", f.name, date.Unix(), 0, 0, "100644", len(f.data))
		if b = append(b, f.data...); len(f.data)%2 == 1 {
			b = append(b, '\n')
		}
	}
	return b
}

func must(err error) {
	if err != nil {
		panic("BUG: release: " + err.Error())
	}
}

// sortFiles sorts files by name.
func sortFiles(files []file) {
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
}
