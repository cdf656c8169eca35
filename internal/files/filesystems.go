// SPDX-License-Identifier: Apache-2.0

package files

import (
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"

	"github.com/gvw-project/gvw/internal/cli"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/hdfsio/hdfs"
	"github.com/gvw-project/gvw/hdfsio/siteconf"
)

// fileOptions are the options whose files may be on any file system. The files of localOptions
// must be on this machine.
var (
	fileOptions = []string{
		"data", "valid", "final_regressor", "initial_regressor", "readable_model", "invert_hash", "feature_mask",
		"input_feature_regularizer", "output_feature_regularizer_binary", "output_feature_regularizer_text",
		"predictions", "raw_predictions", "metrics_file", "extra_metrics", "checkpoint", "names",
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
	if s.Has("hdfs_keytab") != s.Has("hdfs_principal") {
		errs = append(errs, cli.Usagef("--hdfs_keytab and --hdfs_principal go together: a file of keys, and the principal whose key to use"))
	}
	if c := s.Get("hdfs_client"); s.Has("hdfs_keytab") && (c == "webhdfs" || c == "pipe") {
		errs = append(errs, cli.Usagef("--hdfs_keytab would be ignored with --hdfs_client %s: only the native client uses one", c))
	}
	for _, word := range s.Words {
		if strings.HasPrefix(word, "hdfs://") {
			return errs
		}
	}
	for _, option := range fileOptions {
		for _, name := range s.All(option) {
			if scheme, _, _, ok := hdfsio.SplitURL(name); ok && scheme == "hdfs" {
				return errs
			}
		}
	}
	for _, option := range []string{"hdfs_client", "hdfs_keytab"} {
		if s.Has(option) {
			errs = append(errs, cli.Usagef("--%s would be ignored: no file begins with hdfs://", option))
		}
	}
	return errs
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
		cfg, err := hdfsConfig(f.p, get)
		if err != nil {
			return nil, err
		}
		cfg.Perm = perm
		level := slog.LevelInfo
		if quiet {
			level = slog.LevelError
		}
		cfg.Log = slog.New(slog.NewTextHandler(f.p.Diagnostics(), &slog.HandlerOptions{Level: level, ReplaceAttr: cli.ReplaceAttr(f.p.Rewrite, true)}))
		return hdfs.Dialer(cfg)(scheme, authority)
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

// hdfsConfig returns the configuration for clusters, from options and environment.
func hdfsConfig(p *cli.Process, get func(option string) string) (hdfs.Config, error) {
	conf, err := siteConf(p)
	if err != nil {
		return hdfs.Config{}, err
	}
	who := p.Getenv("HADOOP_USER_NAME")
	if who == "" {
		u, err := user.Current()
		if err != nil {
			return hdfs.Config{}, fmt.Errorf("cannot find the user name for HDFS (set HADOOP_USER_NAME): %w", err)
		}
		who = u.Username
	}
	host, err := os.Hostname()
	if err != nil {
		return hdfs.Config{}, fmt.Errorf("cannot find the name of this machine: %w", err)
	}
	return hdfs.Config{
		Client:       get("hdfs_client"),
		Conf:         conf,
		User:         who,
		TokenFile:    p.Getenv("HADOOP_TOKEN_FILE_LOCATION"),
		KerberosConf: firstSet(p.Getenv("KRB5_CONFIG"), "/etc/krb5.conf"),
		TicketCache:  strings.TrimPrefix(firstSet(p.Getenv("KRB5CCNAME"), fmt.Sprintf("/tmp/krb5cc_%d", os.Getuid())), "FILE:"),
		Keytab:       get("hdfs_keytab"),
		Principal:    get("hdfs_principal"),
		Command:      hadoopClient(p),
		Env:          p.Env,
		Host:         host,
		Pid:          os.Getpid(),
	}, nil
}

// firstSet returns the first value that is not empty, or "".
func firstSet(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// siteConf reads the site files that Hadoop's own client would read: in HADOOP_CONF_DIR, in
// HADOOP_HOME, or in /etc. It returns an empty configuration if there is none; URLs must then
// have a host.
func siteConf(p *cli.Process) (*siteconf.Conf, error) {
	if dir := p.Getenv("HADOOP_CONF_DIR"); dir != "" {
		return siteconf.Load(dir, p.Getenv)
	}
	var dirs []string
	if home := p.Getenv("HADOOP_HOME"); home != "" {
		dirs = append(dirs, filepath.Join(home, "etc", "hadoop"))
	}
	for _, dir := range append(dirs, "/etc/hadoop/conf") {
		if _, err := os.Stat(filepath.Join(dir, "core-site.xml")); err == nil {
			return siteconf.Load(dir, p.Getenv)
		}
	}
	return &siteconf.Conf{}, nil
}

// hadoopClient returns the command of Hadoop's own client, or nil if it is not installed. In a
// map task the scripts may be missing, but CLASSPATH has Hadoop's classes: then the client is
// started by java.
func hadoopClient(p *cli.Process) []string {
	for _, c := range [][]string{{"hdfs", "dfs"}, {"hadoop", "fs"}} {
		if home := p.Getenv("HADOOP_HOME"); home != "" {
			if file, err := exec.LookPath(filepath.Join(home, "bin", c[0])); err == nil {
				return []string{file, c[1]}
			}
		}
		if file, err := exec.LookPath(c[0]); err == nil {
			return []string{file, c[1]}
		}
	}
	if classes := p.Getenv("CLASSPATH"); classes != "" && p.Getenv("CONTAINER_ID") != "" {
		java, err := exec.LookPath(filepath.Join(p.Getenv("JAVA_HOME"), "bin", "java"))
		if err == nil {
			return []string{java, "-Xmx256m", "-cp", classes, "org.apache.hadoop.fs.FsShell"}
		}
	}
	return nil
}
