// SPDX-License-Identifier: Apache-2.0

package files

import (
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/hdfsio/hdfs"
	"github.com/gvw-project/gvw/hdfsio/remote"
	"github.com/gvw-project/gvw/hdfsio/s3"
	"github.com/gvw-project/gvw/hdfsio/web"
	"github.com/gvw-project/gvw/internal/cli"
)

// source is what a file system is made of: the beginning of its names, and options.
type source struct {
	p                 *cli.Process
	get               func(option string) string
	perm              fs.FileMode
	log               *slog.Logger
	scheme, authority string
}

// schemes has the file systems by the beginning of their names. A file system is all that a source
// of data needs: shards, patterns, caches, compression and retries are made of it.
var schemes = map[string]func(source) (hdfsio.FS, error){
	"hdfs": dialHDFS, "webhdfs": dialHDFS, "swebhdfs": dialHDFS,
	"http": dialWeb, "https": dialWeb,
	"s3": dialS3,
}

// dial returns the file system of a source.
func dial(s source) (hdfsio.FS, error) {
	if d, ok := schemes[s.scheme]; ok {
		return d(s)
	}
	return nil, fmt.Errorf("unknown file system %s://: use %s or file", s.scheme, strings.Join(slices.Sorted(maps.Keys(schemes)), ", "))
}

func dialHDFS(s source) (hdfsio.FS, error) {
	cfg, err := hdfsConfig(s.p, s.get)
	if err != nil {
		return nil, err
	}
	cfg.Perm, cfg.Log = s.perm, s.log
	return hdfs.Dialer(cfg)(s.scheme, s.authority)
}

func dialWeb(s source) (hdfsio.FS, error) {
	b, err := web.New(web.Config{Base: s.scheme + "://" + s.authority})
	if err != nil {
		return nil, err
	}
	return s.remote(b)
}

func dialS3(s source) (hdfsio.FS, error) {
	b, err := s3.New(s3.Config{Bucket: s.authority, Endpoint: s.get("s3_endpoint"), Env: s.p.Getenv})
	if err != nil {
		return nil, err
	}
	return s.remote(b)
}

// remote makes a file system of a back end that takes paths as they are.
func (s source) remote(b remote.Backend) (hdfsio.FS, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("cannot find the name of this machine: %w", err)
	}
	return remote.New(b, remote.Config{Prefix: s.scheme + "://" + s.authority, Verbatim: true, Perm: s.perm, Host: host, Pid: os.Getpid(), Log: s.log})
}
