// SPDX-License-Identifier: Apache-2.0

package files

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"

	"github.com/gvw-project/gvw/hdfsio/hdfs"
	"github.com/gvw-project/gvw/hdfsio/siteconf"
	"github.com/gvw-project/gvw/internal/cli"
)

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
		Keytab:       LocalPath(get("hdfs_keytab")),
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
