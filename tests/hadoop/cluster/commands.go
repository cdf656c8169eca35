// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// command is a replacement of Hadoop's command line with the parts that tests and our scripts
// use.
const command = `#!/usr/bin/env bash
# Hadoop's commands hadoop, hdfs, mapred and yarn, as far as they are needed here.
export HADOOP_CONF_DIR=@CONF@ JAVA_HOME=@JAVA@
run() { exec "$JAVA_HOME/bin/java" @OPTIONS@ "-Dhadoop.root.logger=${HADOOP_ROOT_LOGGER:-WARN,console}" -cp "@CP@" "$@"; }
name=$(basename "$0") what=${1:-}
shift || true
case "$name $what" in
"hadoop fs" | "hdfs dfs") run org.apache.hadoop.fs.FsShell "$@" ;;
"hadoop classpath") echo "@CP@" ;;
"hadoop version") run org.apache.hadoop.util.VersionInfo ;;
"hdfs dfsadmin") run org.apache.hadoop.hdfs.tools.DFSAdmin "$@" ;;
"hdfs getconf") run org.apache.hadoop.hdfs.tools.GetConf "$@" ;;
"hdfs fetchdt") run org.apache.hadoop.hdfs.tools.DelegationTokenFetcher "$@" ;;
"mapred streaming") HADOOP_ROOT_LOGGER=${HADOOP_ROOT_LOGGER:-INFO,console} run org.apache.hadoop.streaming.HadoopStreaming "$@" ;;
"mapred job") run org.apache.hadoop.mapred.JobClient "$@" ;;
"yarn org.apache."*) HADOOP_ROOT_LOGGER=${HADOOP_ROOT_LOGGER:-INFO,console} run "$what" "$@" ;;
"yarn application" | "yarn app") run org.apache.hadoop.yarn.client.cli.ApplicationCLI "$what" "$@" ;;
*) echo "$name: this small one knows no $what" >&2; exit 1 ;;
esac
`

func (c *Cluster) writeCommands() error {
	quoted := make([]string, 0, 32)
	for _, o := range c.options("256m") {
		quoted = append(quoted, "'"+o+"'")
	}
	text := strings.NewReplacer(
		"@CONF@", c.conf(), "@JAVA@", c.cfg.Java, "@OPTIONS@", strings.Join(quoted, " "), "@CP@", c.classPath(":"),
	).Replace(command)
	for _, name := range []string{"hadoop", "hdfs", "mapred", "yarn"} {
		file := filepath.Join(c.BinDir(), name)
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			return fmt.Errorf("cluster: %w", err)
		}
	}
	return nil
}
