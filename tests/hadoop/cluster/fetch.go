// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"archive/zip"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Version is the release of Hadoop: the newest one with all jars published, streaming included.
const Version = "3.4.2"

// list is the version of pom.xml: jars that an older one named are fetched again.
const list = "3"

//go:embed pom.xml
var pom []byte

const dependencyPlugin = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"

// Fetch downloads the jars with Maven into a folder below cache, unless they exist. It returns
// that folder.
func Fetch(ctx context.Context, cache, javaHome string) (jars string, err error) {
	jars = filepath.Join(cache, "hadoop-"+Version+"-"+list)
	if _, err := os.Stat(jars); err == nil {
		return jars, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp(cache, "fetching-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	if err := os.WriteFile(filepath.Join(tmp, "pom.xml"), pom, 0o644); err != nil {
		return "", err
	}
	maven := func(args ...string) error {
		cmd := exec.CommandContext(ctx, "mvn", append([]string{"-B", "-ntp", "-q", "-f", filepath.Join(tmp, "pom.xml")}, args...)...)
		cmd.Env = append(cmd.Environ(), "JAVA_HOME="+javaHome)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("cluster: mvn %s: %w\n%s", strings.Join(args, " "), err, out)
		}
		return nil
	}
	lib := filepath.Join(tmp, "jars", "lib")
	if err := maven(dependencyPlugin+":copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory="+lib); err != nil {
		return "", err
	}
	tests := filepath.Join(tmp, "tests")
	if err := maven(dependencyPlugin+":copy", "-Dartifact=org.apache.hadoop:hadoop-hdfs:"+Version+":jar:tests", "-DoutputDirectory="+tests, "-Dmdep.stripVersion=true"); err != nil {
		return "", err
	}
	if err := unpackWeb(filepath.Join(tests, "hadoop-hdfs-tests.jar"), filepath.Join(tmp, "jars", "web")); err != nil {
		return "", err
	}
	if err := os.Rename(filepath.Join(tmp, "jars"), jars); err != nil {
		if _, there := os.Stat(jars); there != nil { // else another process created it first
			return "", err
		}
	}
	return jars, nil
}

// unpackWeb unpacks the web resources from the test jar of HDFS: the NameNode looks for them in
// the class path, and its own jar has none.
func unpackWeb(jar, dir string) error {
	z, err := zip.OpenReader(jar)
	if err != nil {
		return err
	}
	defer z.Close()
	for _, f := range z.File {
		if !strings.HasPrefix(f.Name, "webapps/") || strings.HasSuffix(f.Name, "/") || !filepath.IsLocal(f.Name) {
			continue
		}
		if err := unpack(f, filepath.Join(dir, filepath.FromSlash(f.Name))); err != nil {
			return err
		}
	}
	for _, name := range []string{"hdfs", "datanode", "static"} { // an empty one is enough
		if err := os.MkdirAll(filepath.Join(dir, "webapps", name), 0o755); err != nil {
			return err
		}
	}
	return nil
}

func unpack(f *zip.File, to string) (err error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	_, err = io.Copy(w, r)
	return err
}

// FindJava returns the home of the Java for the servers. home is the value of JAVA_HOME; empty:
// the home of the java in PATH.
func FindJava(ctx context.Context, home string) (string, error) {
	if home == "" {
		java, err := exec.LookPath("java")
		if err != nil {
			return "", errors.New("there is no java: a JDK 17 is needed")
		}
		if java, err = filepath.EvalSymlinks(java); err != nil {
			return "", err
		}
		home = filepath.Dir(filepath.Dir(java))
	}
	out, err := exec.CommandContext(ctx, filepath.Join(home, "bin", "java"), "-version").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("java in %s: %w", home, err)
	}
	_, version, _ := strings.Cut(string(out), `version "`)
	var major int
	if _, err := fmt.Sscanf(version, "%d", &major); err != nil || major < 17 || major > 21 {
		return "", fmt.Errorf("java in %s is version %d: Hadoop's servers need 17 (JAVA_HOME says which)", home, major)
	}
	return home, nil
}

// FindMaven returns an error if Maven is missing.
func FindMaven() error {
	if _, err := exec.LookPath("mvn"); err != nil {
		return errors.New("there is no mvn: Maven fetches Hadoop's jars")
	}
	return nil
}
