// SPDX-License-Identifier: Apache-2.0

// Release builds the files of a release: archives of both programs for six platforms, a wheel, a Debian
// and an RPM package for the two of Linux, lists of the modules in them, and SHA256SUMS. It needs Python, Go and its
// module cache, and no network. Two runs on one commit write the same bytes.
//
//	go run ./internal/release -version v0.2.0 -out dist
package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

var programs = []string{"gvw", "spanning_tree"}

// Shared memory and verbs are for Linux; elsewhere ranks of one machine use TCP.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// release is a release in work.
type release struct {
	version string // v0.2.0
	commit  string
	date    time.Time // of the commit
	out     string    // directory of the files
	root    string    // of the repository

	programs string // directory with the programs for the wheel
	texts    []file // completions and manual pages
}

func main() {
	version := flag.String("version", "", "version, such as v0.2.0")
	out := flag.String("out", "dist", "directory of the files; it must be empty or missing")
	only := flag.String("platforms", strings.Join(platforms, ","), "platforms, separated by commas")
	flag.Parse()
	if err := run(*version, *out, strings.Split(*only, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

var versionForm = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?$`)

func run(version, out string, platforms []string) error {
	if !versionForm.MatchString(version) {
		return fmt.Errorf("version %q: want one such as v0.2.0 (make release VERSION=v0.2.0)", version)
	}
	r := &release{version: version, out: out}
	for _, c := range []struct {
		to    *string
		words []string
	}{{&r.root, []string{"rev-parse", "--show-toplevel"}}, {&r.commit, []string{"rev-parse", "HEAD"}}} {
		text, err := exec.Command("git", c.words...).Output()
		if err != nil {
			return fmt.Errorf("git %s: %w: a release is made in a checkout", strings.Join(c.words, " "), err)
		}
		*c.to = strings.TrimSpace(string(text))
	}
	text, err := exec.Command("git", "show", "-s", "--format=%cI", "HEAD").Output()
	if err != nil {
		return fmt.Errorf("the date of the commit: %w", err)
	}
	if r.date, err = time.Parse(time.RFC3339, strings.TrimSpace(string(text))); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	if files, err := os.ReadDir(out); err != nil || len(files) > 0 {
		return fmt.Errorf("%s has %d files: want an empty directory (%v)", out, len(files), err)
	}
	if r.out, err = filepath.Abs(out); err != nil {
		return err
	}
	if r.programs, err = os.MkdirTemp("", "gvw-release-"); err != nil {
		return err
	}
	defer os.RemoveAll(r.programs)
	if err := r.describe(); err != nil {
		return fmt.Errorf("the manual: %w", err)
	}
	for _, p := range platforms {
		if err := r.platform(p); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	if slices.Contains(platforms, "linux/amd64") {
		if err := r.wheel(); err != nil {
			return fmt.Errorf("the wheel: %w", err)
		}
	}
	return r.sums()
}

// wheel makes the Python wheel of the programs in the archive for Linux on amd64.
func (r *release) wheel() error {
	cmd := exec.Command("python3", filepath.Join("python", "backend", "gvw_build.py"), r.out)
	cmd.Dir = r.root
	cmd.Env = append(os.Environ(), "GVW_VERSION="+r.version, "GVW_PROGRAMS="+r.programs)
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	return nil
}

// path returns the name of a program's file, which is not one of the release.
func (r *release) path(name, platform string) string {
	if platform == "linux/amd64" {
		return filepath.Join(r.programs, name) // for the wheel
	}
	return filepath.Join(r.programs, strings.ReplaceAll(platform, "/", "-"), name)
}

// build builds a program, unless its file is there, and returns it.
func (r *release) build(name, path, platform string) ([]byte, error) {
	if data, err := os.ReadFile(path); err == nil {
		return data, nil
	}
	goos, goarch, _ := strings.Cut(platform, "/")
	flags := fmt.Sprintf("-s -w -X 'github.com/gvw-project/gvw/internal/cli.release=%s %s %s'", r.version, r.commit, r.day())
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", path, "./cmd/"+name)
	cmd.Dir = r.root
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOAMD64=v1", "GOARM64=v8.0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build %s: %w\n%s", name, err, text)
	}
	return os.ReadFile(path)
}

// day returns the day of the commit.
func (r *release) day() string { return r.date.UTC().Format(time.DateOnly) }

// number returns the version as packages have it. A pre-release sorts before the release.
func (r *release) number() string {
	return strings.ReplaceAll(strings.TrimPrefix(r.version, "v"), "-", "~")
}

// platform makes the files of one platform.
func (r *release) platform(platform string) error {
	goos, goarch, _ := strings.Cut(platform, "/")
	suffix := ""
	if goos == "windows" {
		suffix = ".exe"
	}
	var files []file
	bills := map[string]string{}
	for _, name := range programs {
		path := r.path(name+suffix, platform)
		data, err := r.build(name, path, platform)
		if err != nil {
			return err
		}
		files = append(files, file{name + suffix, 0o755, data})
		bills[name] = path
	}
	for _, name := range []string{"LICENSE", "NOTICE", "README.md", "CHANGELOG.md"} {
		data, err := os.ReadFile(filepath.Join(r.root, name))
		if err != nil {
			return err
		}
		files = append(files, file{name, 0o644, data})
	}
	files = append(files, r.texts...)
	name := fmt.Sprintf("gvw-%s-%s-%s", r.version, goos, goarch)
	bill, err := r.bill(name, bills)
	if err != nil {
		return err
	}
	if err := r.write(name+".spdx.json", bill); err != nil {
		return err
	}
	under := slices.Clone(files)
	for i := range under {
		under[i].name = name + "/" + under[i].name
	}
	if goos == "windows" {
		err = r.write(name+".zip", zipped(under, r.date))
	} else {
		err = r.write(name+".tar.gz", tarred(under, r.date))
	}
	if err != nil || goos != "linux" {
		return err
	}
	if files, err = r.system(files); err != nil {
		return err
	}
	if err := r.write(fmt.Sprintf("gvw_%s_%s.deb", r.number(), goarch), r.debian(goarch, files)); err != nil {
		return err
	}
	name, data, err := r.rpm(goarch, files)
	if err != nil {
		return err
	}
	return r.write(name, data)
}

func (r *release) write(name string, data []byte) error {
	return os.WriteFile(filepath.Join(r.out, name), data, 0o644)
}

// sums writes the digests of all files.
func (r *release) sums() error {
	files, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(r.out, f.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), f.Name())
	}
	return r.write("SHA256SUMS", []byte(b.String()))
}
