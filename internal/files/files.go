// SPDX-License-Identifier: Apache-2.0

package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/fault"
	"github.com/gvw-project/gvw/internal/launch"
	"github.com/gvw-project/gvw/learn"
)

// StdinNames and StdoutNames are the names of the streams of the process. vw accepts "stdout"
// for predictions; the other names are those of common tools.
var (
	StdinNames  = []string{"-", "/dev/stdin"}
	StdoutNames = []string{"-", "stdout", "/dev/stdout"}
)

// CacheName returns the file of -c or --cache_file, or "" for no cache. Without --cache_file it
// is the name of the data with ".cache", as in vw, and with the rank if ranks share one input:
// each has other examples.
func CacheName(c *cli.Context, shard hdfsio.Shard) (string, error) {
	data := c.StringSlice("data")
	switch files := c.StringSlice("cache_file"); {
	case len(files) > 0:
		return LocalPath(files[0]), nil
	case !c.Bool("cache"):
		return "", nil
	case len(data) == 0:
		return ".cache", nil // as in vw, which adds it to the name of the data
	case slices.Contains(StdinNames, data[0]):
		return "", cli.Usagef("--cache: data from stdin has no name for its cache: give --cache_file FILE")
	case hdfsio.Remote(data[0]):
		return "", cli.Usagef("--cache: the cache of %s would be beside it, and a cache is a file on this machine: give --cache_file FILE", data[0])
	case shard.Kind != hdfsio.Whole:
		return fmt.Sprintf("%s.cache.%d", LocalPath(data[0]), shard.Rank), nil
	}
	return LocalPath(data[0]) + ".cache", nil
}

// LocalPath returns the path in a URL file:///PATH of this machine, and other names as they are. It is for options whose files
// must be on this machine: they are opened without the file systems of package hdfsio.
func LocalPath(name string) string {
	if scheme, host, path, ok := hdfsio.SplitURL(name); ok && scheme == "file" && (host == "" || host == "localhost") {
		return path
	}
	return name
}

// Inputs returns the rank's parts of the data. Without -d the data is on stdin, as in vw,
// unless the file cache exists: then it returns no inputs, since the cache has the examples.
// An error is a UsageError, or that of the file system.
func (f *Set) Inputs(ctx context.Context, fsys hdfsio.FS, data []string, cache string, shard hdfsio.Shard) ([]learn.Input, error) {
	if len(data) == 0 {
		if there, err := exists(ctx, fsys, cache); there || err != nil {
			return nil, err
		}
		if Terminal(f.p.Stdin) {
			return nil, cli.Usagef("there is no data: give -d FILE, or text on stdin (gvw --help says more)")
		}
		data = StdinNames[:1]
	}
	if slices.ContainsFunc(data, func(name string) bool { return slices.Contains(StdinNames, name) }) {
		switch {
		case len(data) > 1:
			return nil, cli.Usagef("--data: stdin cannot stand beside files: join them before the pipe")
		case shard.Kind != hdfsio.Whole:
			return nil, cli.Usagef("--shard: stdin belongs to this rank only: give a file that every rank can open, or leave --shard out")
		}
		name := data[0]
		if name == "-" {
			name = "stdin" // the name that vw prints for data without a file
		}
		return []learn.Input{{Name: name, Open: f.openStdin(name)}}, nil
	}
	return fileInputs(ctx, fsys, data, shard)
}

// NoExamples returns an input without examples, for --no_stdin, or no input if the cache exists.
func NoExamples(ctx context.Context, fsys hdfsio.FS, cache string) ([]learn.Input, error) {
	if there, err := exists(ctx, fsys, cache); there || err != nil {
		return nil, err
	}
	open := func(context.Context) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("")), nil }
	return []learn.Input{{Name: "none", Identity: "none", Open: open, None: true}}, nil
}

// exists reports whether a file exists; name may be empty. It returns an error only if the file
// system does not respond: whether another failure matters shows when the file is opened.
func exists(ctx context.Context, fsys hdfsio.FS, name string) (bool, error) {
	if name == "" {
		return false, nil
	}
	_, err := fsys.Stat(ctx, name)
	if errors.Is(err, hdfsio.ErrHung) {
		return false, err
	}
	return err == nil, nil
}

// ValidInputs returns the rank's parts of the files of --valid, which all ranks share.
func ValidInputs(ctx context.Context, fsys hdfsio.FS, files []string, at launch.Place) ([]learn.Input, error) {
	if len(files) == 0 {
		return nil, nil
	}
	if slices.ContainsFunc(files, func(name string) bool { return slices.Contains(StdinNames, name) }) {
		return nil, cli.Usagef("--valid: stdin can be read only once, and it is measured after each pass: give a file")
	}
	shard := hdfsio.Shard{}
	if at.Total > 1 {
		shard = hdfsio.Shard{Kind: hdfsio.Bytes, Rank: at.Rank, Total: at.Total}
	}
	return fileInputs(ctx, fsys, files, shard)
}

// fileInputs returns the rank's parts of files.
func fileInputs(ctx context.Context, fsys hdfsio.FS, files []string, shard hdfsio.Shard) ([]learn.Input, error) {
	names, err := hdfsio.Expand(ctx, fsys, files)
	if err != nil {
		return nil, err
	}
	parts, err := hdfsio.Split(ctx, fsys, names, shard)
	if err != nil {
		return nil, err
	}
	inputs := make([]learn.Input, len(parts))
	for i, part := range parts {
		inputs[i] = learn.Input{Name: part.Name, Identity: part.Identity, Open: part.Open, Header: part.Header}
	}
	return inputs, nil
}

// DictionaryPath returns the folders in which vw searches for the files of --dictionary: those
// given, the current one and those of PATH, in this order. Folders that do not exist are
// left out.
func DictionaryPath(given []string, path string) []string {
	var dirs []string
	for _, dir := range slices.Concat(given, []string{"."}, filepath.SplitList(path)) {
		if fi, err := os.Stat(dir); err == nil && fi.IsDir() {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// PassLog opens the file of --log_json. The file has its final name from the start, since users
// read it while the run goes on.
func (f *Set) PassLog(fsys hdfsio.Local, name string) (io.WriteCloser, error) {
	return f.growing(fsys, "log_json", name)
}

// Timeline opens the file of --timeline, likewise: it is useful after a crash, too.
func (f *Set) Timeline(fsys hdfsio.Local, name string) (io.WriteCloser, error) {
	return f.growing(fsys, "timeline", name)
}

// growing opens a file that grows under its final name.
func (f *Set) growing(fsys hdfsio.Local, option, name string) (io.WriteCloser, error) {
	if slices.Contains(StdoutNames, name) {
		return nopCloser{f.p.Stdout}, nil
	}
	log, err := fsys.CreateNow(LocalPath(name))
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", option, err)
	}
	return log, nil
}

// FileMode returns the permissions that --mode has in octal, or 0 if the text is empty, invalid,
// or does not let the owner read and write.
func FileMode(text string) fs.FileMode {
	mode, err := strconv.ParseUint(text, 8, 9)
	if err != nil || mode&0o600 != 0o600 {
		return 0
	}
	return fs.FileMode(mode)
}

// nopCloser is a stream of the process, which stays open.
type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// Terminal reports whether f is a terminal: a character device other than /dev/null.
func Terminal(f *os.File) bool {
	fi, err := f.Stat()
	if err != nil || fi.Mode()&fs.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(fi, null)
}

// ShowsProgress reports whether lines of progress are shown on stderr. how is the value of
// --progress_bar; empty: auto, for terminals only.
func ShowsProgress(stderr io.Writer, how string, quiet bool) bool {
	f, isFile := stderr.(*os.File)
	return !quiet && (how == "on" || how != "off" && isFile && Terminal(f))
}

// Opener returns a function that opens models.
func Opener(ctx context.Context, fsys hdfsio.FS) func(string) (io.ReadCloser, error) {
	return func(name string) (io.ReadCloser, error) { return hdfsio.Open(ctx, fsys, name) }
}

// Creator returns a function that creates the output files of a rank. A file gets its name when
// it is committed; names of stdout are written at once.
func (f *Set) Creator(ctx context.Context, fsys hdfsio.FS, rank int) func(string) (learn.Output, error) {
	return func(name string) (learn.Output, error) {
		if slices.Contains(StdoutNames, name) {
			return &stdoutFile{w: f.p.Stdout}, nil
		}
		file, err := fsys.Create(ctx, name)
		if err != nil {
			return nil, err
		}
		f.Unfinished.Add(fsys, name)
		return &faultFile{file, rank}, nil
	}
}

// faultFile is an output file at whose commit a fault may be injected (GVW_FAULT).
type faultFile struct {
	hdfsio.File
	rank int
}

func (f *faultFile) Commit() error {
	fault.At(f.rank, fault.Write)
	return f.File.Commit()
}

func (f *faultFile) CommitIf(allowed func() error) error {
	fault.At(f.rank, fault.Write)
	return hdfsio.CommitIf(f.File, allowed)
}

func (f *faultFile) CommitNew() error {
	fault.At(f.rank, fault.Write)
	return f.File.CommitNew()
}

// stdoutFile is an output to stdout. Its Commit returns the errors of its writes, and its Abort
// does nothing: what was written cannot be taken back.
type stdoutFile struct {
	w   io.Writer
	err error
}

func (s *stdoutFile) Write(b []byte) (int, error) {
	n, err := s.w.Write(b)
	s.err = errors.Join(s.err, err)
	return n, err
}

func (s *stdoutFile) Commit() error { return s.err }
func (s *stdoutFile) Abort() error  { return nil }
