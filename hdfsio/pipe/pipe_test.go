// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gvw-project/gvw/hdfsio/fstest"
	"github.com/gvw-project/gvw/hdfsio/remote"
)

// fakeDir names the folder that this program serves in the role of Hadoop's client.
const fakeDir = "GVW_TEST_FAKE_HDFS"

func TestMain(m *testing.M) {
	if dir := os.Getenv(fakeDir); dir != "" {
		os.Exit(fakeClient(dir, os.Args[1:]))
	}
	os.Exit(m.Run())
}

// fakeClient implements the parts of hdfs dfs that the back end uses.
func fakeClient(dir string, args []string) int {
	local := func(name string) string {
		return filepath.Join(dir, strings.TrimPrefix(name, "hdfs://fake"))
	}
	literal := func(name string) string {
		var b strings.Builder
		for i := 0; i < len(name); i++ {
			if name[i] == '\\' {
				i++
			}
			b.WriteByte(name[i])
		}
		return b.String()
	}
	umask := fs.FileMode(0o22)
	if args[1] == "-D" {
		if _, err := fmt.Sscanf(args[2], "fs.permissions.umask-mode=%o", &umask); err != nil {
			panic(err)
		}
		args = append(args[:1], args[3:]...)
	}
	command, args := strings.TrimPrefix(args[1], "-"), args[2:]
	complain := func(name, what string) int {
		fmt.Fprintf(os.Stderr, "WARN util.NativeCodeLoader: not loaded\n%s: `%s': %s\n", command, name, what)
		return 1
	}
	explain := func(name string, err error) int {
		switch {
		case err == nil:
			return 0
		case errors.Is(err, fs.ErrNotExist):
			return complain(name, "No such file or directory")
		default:
			return complain(name, err.Error())
		}
	}
	switch command {
	case "stat":
		code := 0
		for _, name := range args[1:] {
			if folder, ok := strings.CutSuffix(name, "/*"); ok {
				entries, _ := os.ReadDir(local(literal(folder)))
				for _, e := range entries {
					printStat(filepath.Join(local(literal(folder)), e.Name()))
				}
				if len(entries) == 0 {
					code = complain(name, "No such file or directory")
				}
			} else if err := printStat(local(literal(name))); err != nil {
				code = explain(name, err)
			}
		}
		return code
	case "cat":
		f, err := os.Open(local(literal(args[0])))
		if err != nil {
			return explain(args[0], err)
		}
		if strings.HasSuffix(args[0], "hangs") {
			time.Sleep(time.Minute)
		}
		_, err = io.Copy(os.Stdout, f)
		return explain(args[0], err)
	case "put":
		name := local(literal(args[2]))
		if strings.Contains(name, "safe") {
			fmt.Fprintln(os.Stderr, "put: Cannot create file"+args[2]+". Name node is in safe mode.")
			return 1
		}
		if _, err := os.Stat(filepath.Dir(name)); err != nil {
			return explain(args[2], err)
		}
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666&^umask)
		if err == nil {
			_, err = io.Copy(f, os.Stdin)
			err = errors.Join(err, f.Close())
		}
		return explain(args[2], err)
	case "mv":
		if _, err := os.Stat(local(literal(args[1]))); err == nil {
			return complain(args[1], "File exists")
		}
		// Hadoop's rename never replaces a file, in any order of calls.
		if err := os.Link(local(literal(args[0])), local(literal(args[1]))); errors.Is(err, fs.ErrExist) {
			return complain(args[1], "File exists")
		} else if err != nil {
			return explain(args[0], err)
		}
		return explain(args[0], os.Remove(local(literal(args[0]))))
	case "rm":
		name := args[len(args)-1]
		fi, err := os.Stat(local(literal(name)))
		switch {
		case err != nil && args[0] == "-f":
			return 0
		case err == nil && fi.IsDir():
			return complain(name, "Is a directory")
		}
		return explain(name, os.Remove(local(literal(name))))
	case "rmdir":
		if entries, _ := os.ReadDir(local(literal(args[0]))); len(entries) > 0 {
			return complain(args[0], "Directory is not empty")
		}
		return explain(args[0], os.Remove(local(literal(args[0]))))
	case "mkdir":
		return explain(args[1], os.MkdirAll(local(literal(args[1])), 0o777))
	}
	fmt.Fprintf(os.Stderr, "-%s: Unknown command\n", command)
	return 255
}

func printStat(name string) error {
	fi, err := os.Stat(name)
	if err != nil {
		return err
	}
	kind := "regular file"
	if fi.IsDir() {
		kind = "directory"
	}
	fmt.Printf("%s|%d|%d|%o|%s\n", kind, fi.Size(), fi.ModTime().UnixMilli(), fi.Mode().Perm(), fi.Name())
	return nil
}

func newFake(t *testing.T, silence time.Duration) *remote.FS {
	t.Helper()
	return fakeOf(t, t.TempDir(), silence)
}

// fakeOf returns the file system whose files are in a folder of this machine.
func fakeOf(t *testing.T, dir string, silence time.Duration) *remote.FS {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(Config{Command: []string{self, "dfs"}, Env: append(os.Environ(), fakeDir+"="+dir), Prefix: "hdfs://fake", Silence: silence})
	if err != nil {
		t.Fatal(err)
	}
	fsys, err := remote.New(c, remote.Config{Prefix: "hdfs://fake", Host: "here", Spool: t.TempDir(), Patience: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return fsys
}

func TestConformance(t *testing.T) {
	fstest.Run(t, fstest.Config{FS: newFake(t, 0), Dir: "hdfs://fake", Slow: testing.Short()})
}

func write(t *testing.T, fsys *remote.FS, name, text string) {
	t.Helper()
	f, err := fsys.Create(t.Context(), name)
	if err == nil {
		_, err = io.WriteString(f, text)
	}
	if err == nil {
		err = f.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A client that hangs is killed; a slow reader is not treated as a hang.
func TestAClientThatHangsIsEnded(t *testing.T) {
	dir := t.TempDir()
	patient := fakeOf(t, dir, 0) // a busy machine takes its time to start a client
	write(t, patient, "hdfs://fake/hangs", "text")
	r, err := fakeOf(t, dir, 2*time.Second).Open(t.Context(), "hdfs://fake/hangs", 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.ReadAll(r)
	if err == nil || !strings.Contains(err.Error(), "transferred nothing for 2s") {
		t.Errorf("reading what hangs: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	text := strings.Repeat("text", 100_000)
	write(t, patient, "hdfs://fake/file", text)
	if r, err = fakeOf(t, dir, 5*time.Second).Open(t.Context(), "hdfs://fake/file", 0); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 10)
	if _, err := io.ReadFull(r, b); err != nil {
		t.Fatal(err)
	}
	time.Sleep(6 * time.Second)
	rest, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil || string(b)+string(rest) != text {
		t.Errorf("a reader that takes its time: %d bytes, %v", len(rest), err)
	}
}

func TestRepliesOfTheClientAreParsed(t *testing.T) {
	for text, c := range map[string]struct {
		is   error
		want string
	}{
		"cat: `/x': No such file or directory":                                                       {fs.ErrNotExist, "`/x': No such file or directory (FileNotFoundException)"},
		"put: Permission denied: user=eve, access=WRITE":                                             {fs.ErrPermission, "Permission denied: user=eve, access=WRITE (AccessControlException)"},
		"WARN x\nmv: `/x': File exists":                                                              {fs.ErrExist, "`/x': File exists (FileAlreadyExistsException)"},
		"put: The DiskSpace quota of /q is exceeded: quota = 1 B = 1 B but diskspace consumed = 2 B": {nil, "The DiskSpace quota of /q is exceeded: quota = 1 B = 1 B but diskspace consumed = 2 B (DSQuotaExceededException)"},
		"something else": {nil, "something else (IOException)"},
		"":               {nil, "the client has failed without a message (exit status 1)"},
	} {
		err := explain(text, errors.New("exit status 1"))
		if c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%q: %v is not %v", text, err, c.is)
		}
		if err.Error() != c.want {
			t.Errorf("%q became %q, want %q", text, err, c.want)
		}
	}
}

func TestAClientThatIsNotThere(t *testing.T) {
	c, err := New(Config{Command: []string{filepath.Join(t.TempDir(), "hdfs"), "dfs"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, call := range []func() error{
		func() error { _, err := c.Stat("/"); return err },
		func() error { _, err := c.Open("/x", 0); return err },
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), "install Hadoop's client") {
			t.Errorf("%v", err)
		}
	}
	if _, err := New(Config{Silence: -1}); err == nil || !strings.Contains(err.Error(), "Command") || !strings.Contains(err.Error(), "Silence") {
		t.Errorf("%v does not name all faults", err)
	}
}

// Safe mode is reported at the start, before any work is lost.
func TestSafeMode(t *testing.T) {
	fsys := newFake(t, 0)
	_, err := fsys.Create(t.Context(), "hdfs://fake/safe")
	for _, want := range []string{"cannot create hdfs://fake/safe", "safe mode", "dfsadmin -safemode leave"} {
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "tried for") {
			t.Errorf("%v does not say %q at once", err, want)
		}
	}
}
