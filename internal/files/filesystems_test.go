// SPDX-License-Identifier: Apache-2.0

package files

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/gvw-project/gvw/internal/cli"
)

// TestHadoopIsFound checks where site files and the client of Hadoop are searched for, and in
// which order.
func TestHadoopIsFound(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("on Windows, files without a suffix are not executable")
	}
	home, conf := t.TempDir(), t.TempDir()
	for name, mode := range map[string]os.FileMode{
		filepath.Join(home, "etc", "hadoop", "core-site.xml"): 0o644,
		filepath.Join(conf, "core-site.xml"):                  0o644,
		filepath.Join(home, "bin", "hadoop"):                  0o755,
		filepath.Join(home, "jdk", "bin", "java"):             0o755,
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("<configuration/>"), mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", t.TempDir())
	for _, c := range []struct {
		env  []string
		conf string
		cmd  []string
	}{
		{[]string{"HADOOP_CONF_DIR=" + conf, "HADOOP_HOME=" + home}, conf, []string{filepath.Join(home, "bin", "hadoop"), "fs"}},
		{[]string{"HADOOP_HOME=" + home}, filepath.Join(home, "etc", "hadoop"), []string{filepath.Join(home, "bin", "hadoop"), "fs"}},
		{[]string{"HADOOP_CONF_DIR=" + conf, "CLASSPATH=x.jar", "JAVA_HOME=" + filepath.Join(home, "jdk")}, conf, nil}, // no map task's
		{
			[]string{"HADOOP_CONF_DIR=" + conf, "CLASSPATH=x.jar", "JAVA_HOME=" + filepath.Join(home, "jdk"), "CONTAINER_ID=c"},
			conf,
			[]string{filepath.Join(home, "jdk", "bin", "java"), "-Xmx256m", "-cp", "x.jar", "org.apache.hadoop.fs.FsShell"},
		},
	} {
		p := &cli.Process{Env: c.env}
		got, err := siteConf(p)
		if err != nil || got.Dir != c.conf {
			t.Errorf("%v: site files of %q, %v, want %q", c.env, got.Dir, err, c.conf)
		}
		if cmd := hadoopClient(p); !slices.Equal(cmd, c.cmd) {
			t.Errorf("%v: client %q, want %q", c.env, cmd, c.cmd)
		}
	}
	if _, err := siteConf(&cli.Process{Env: []string{"HADOOP_CONF_DIR=" + home}}); err == nil {
		t.Error("a folder without site files: no error")
	}
}
