// SPDX-License-Identifier: Apache-2.0

package files

import (
	"log/slog"
	"slices"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/cli"
)

// fileOptions are the options whose files may be on any file system. The files of localOptions
// must be on this machine.
var (
	fileOptions = []string{
		"data", "valid", "final_regressor", "initial_regressor", "readable_model", "invert_hash", "feature_mask",
		"input_feature_regularizer", "output_feature_regularizer_binary", "output_feature_regularizer_text",
		"predictions", "raw_predictions", "metrics_file", "extra_metrics", "checkpoint", "names",
	}
	outputOptions = []string{
		"final_regressor", "readable_model", "invert_hash", "output_feature_regularizer_binary", "output_feature_regularizer_text",
		"predictions", "raw_predictions", "metrics_file", "extra_metrics", "checkpoint",
	}
	localOptions = []string{"cache_file", "log_json", "record", "timeline", "trace_dir", "hdfs_keytab"}
)

// Check checks that files are on a file system that their options allow, and that options for
// HDFS are not ignored.
func Check(s *cli.Settings) (errs []error) {
	for _, option := range localOptions {
		for _, name := range s.All(option) {
			if hdfsio.Remote(name) {
				errs = append(errs, cli.Usagef("--%s %s: it must be a file on this machine", option, name))
			}
		}
	}
	for _, option := range outputOptions {
		for _, name := range s.All(option) {
			if scheme, _, _, ok := hdfsio.SplitURL(name); ok && (scheme == "s3" || scheme == "http" || scheme == "https") {
				errs = append(errs, cli.Usagef("--%s %s: files there can only be read: write a file on this machine or in HDFS", option, name))
			}
		}
	}
	if s.Has("s3_endpoint") && !named(s, "s3") {
		errs = append(errs, cli.Usagef("--s3_endpoint would be ignored: no file begins with s3://"))
	}
	if s.Has("hdfs_keytab") != s.Has("hdfs_principal") {
		errs = append(errs, cli.Usagef("--hdfs_keytab and --hdfs_principal go together: a file of keys, and the principal whose key to use"))
	}
	if s.Has("hdfs_keytab") && s.Get("hdfs_client") == "pipe" {
		errs = append(errs, cli.Usagef("--hdfs_keytab would be ignored with --hdfs_client pipe: Hadoop's own client uses the ticket of kinit"))
	}
	if named(s, "hdfs") {
		return errs
	}
	for _, option := range []string{"hdfs_client", "hdfs_keytab"} {
		if s.Has(option) {
			errs = append(errs, cli.Usagef("--%s would be ignored: no file begins with hdfs://", option))
		}
	}
	return errs
}

// named reports whether a file that the command names is on a file system of that scheme.
func named(s *cli.Settings, scheme string) bool {
	names := s.Words
	for _, option := range fileOptions {
		names = append(names, s.All(option)...)
	}
	return slices.ContainsFunc(names, func(name string) bool {
		is, _, _, ok := hdfsio.SplitURL(name)
		return ok && is == scheme
	})
}

// Set opens and creates the files that the options of a command name.
type Set struct {
	p          *cli.Process
	Unfinished names // outputs whose temporary files a forced end removes
}

// New returns a set for a command of the process.
func New(p *cli.Process) *Set {
	f := &Set{p: p}
	p.AtKill(f.Unfinished.remove)
	return f
}

// System returns the file system of all names that a command is given. It connects to a
// cluster when a name needs that, and closes the connections at the end of the process. get
// returns the value of an option; with quiet only errors are logged.
func (f *Set) System(get func(option string) string, quiet bool) *hdfsio.URLs {
	perm := FileMode(get("mode"))
	u := &hdfsio.URLs{Local: hdfsio.Local{Perm: perm}}
	f.p.AtEnd(u.Close)
	u.Dial = func(scheme, authority string) (hdfsio.FS, error) {
		level := slog.LevelInfo
		if quiet {
			level = slog.LevelError
		}
		return dial(source{
			p: f.p, get: get, perm: perm, scheme: scheme, authority: authority,
			log: slog.New(slog.NewTextHandler(f.p.Diagnostics(), &slog.HandlerOptions{Level: level, ReplaceAttr: cli.ReplaceAttr(f.p.Rewrite, true)})),
		})
	}
	return u
}

// Watched returns fsys with a limit on the time of each call (--file_timeout) if this process
// is a rank, since other ranks wait for it. Without a job there is no limit.
func Watched(c *cli.Context, fsys hdfsio.FS, isRank bool, log *slog.Logger) *hdfsio.Watched {
	w := &hdfsio.Watched{FS: fsys, Log: log}
	if isRank {
		w.Within = c.Duration("file_timeout")
	}
	return w
}

// WarnOfPrefixes warns a rank that reads a part of a file on a file system that cannot seek: it
// reads everything before its part.
func WarnOfPrefixes(log *slog.Logger, fsys hdfsio.FS, data []string) {
	for _, name := range data {
		if caps, err := hdfsio.CapsOf(fsys, name); err == nil && !caps.Seek {
			log.Warn("this way to the data cannot begin in the middle of a file: each rank reads everything before its part", "file", name)
			return
		}
	}
}
