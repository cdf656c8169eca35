// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
)

// envPrograms is set in a test's own process: see inNamespaces. It is the directory of the programs.
const envPrograms = "GVW_TEST_CONTAINERS"

// inNamespaces runs the test again in a process with its own network and mounts, and reports whether
// this is that process.
func inNamespaces(t *testing.T) bool {
	t.Helper()
	if os.Getenv(envPrograms) != "" {
		return true
	}
	t.Parallel() // the other process does the work
	const probe = "mount -t tmpfs none /mnt && ip link set lo up && hostname probe && setpriv --no-new-privs chroot --userspec=65532:65532 / true"
	if text, err := exec.Command("unshare", "--net", "--mount", "--uts", "--pid", "--fork", "sh", "-c", probe).CombinedOutput(); err != nil {
		missing(t, fmt.Sprintf("test needs root, namespaces, ip and setpriv, to run containers: %v %s", err, text))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), envPrograms+"="+programs)
	text, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, text)
	}
	return false
}

// machine does for pods on this machine what the kubelet and a container runtime do.
type machine struct {
	t     *testing.T
	root  string // of the image, the same for all pods; each has its own mounts in it
	hosts string // lines of /etc/hosts for the names that the cluster's DNS has
}

// newMachine makes the root file system of the image and the addresses of the pods.
func newMachine(t *testing.T, addresses ...string) *machine {
	t.Helper()
	m := &machine{t: t, root: t.TempDir()}
	if err := os.Chmod(m.root, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"gvw", "spanning_tree"} {
		program, err := os.ReadFile(filepath.Join(programs, name))
		if err != nil {
			t.Fatal(err)
		}
		m.write("usr/bin/"+name, program, 0o755)
	}
	m.write("etc/hosts", nil, 0o644) // the runtime mounts over it
	script := "ip link set lo up"
	for _, a := range addresses {
		script += " && ip address add " + a + "/32 dev lo"
	}
	if text, err := exec.Command("sh", "-c", script).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, text)
	}
	return m
}

// write writes a file of the image.
func (m *machine) write(name string, content []byte, mode os.FileMode) {
	m.t.Helper()
	path := filepath.Join(m.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(path, content, mode); err != nil {
		m.t.Fatal(err)
	}
}

// volume makes a directory of a volume, with the owner and the mode that fsGroup gives it.
func (m *machine) volume(pod core.PodTemplateSpec, files map[string][]byte, mode os.FileMode) string {
	m.t.Helper()
	dir := m.t.TempDir()
	group := int(*pod.Spec.SecurityContext.FSGroup)
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, mode); err != nil {
			m.t.Fatal(err)
		}
		if err := os.Chmod(path, mode|0o040); err != nil { // the group reads what the owner does
			m.t.Fatal(err)
		}
		if err := os.Chown(path, 0, group); err != nil {
			m.t.Fatal(err)
		}
	}
	if err := os.Chown(dir, 0, group); err != nil {
		m.t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o770|os.ModeSetgid); err != nil {
		m.t.Fatal(err)
	}
	return dir
}

// instance is what Kubernetes chooses for one pod of a template.
type instance struct {
	host, ip string
	fqdn     string            // of the host; "": the pod has no subdomain
	labels   map[string]string // that controllers add
	env      []string          // likewise
	volumes  map[string]string // directories by the names of volumes
}

// container is a running container.
type container struct {
	*exec.Cmd
	name string
	log  bytes.Buffer
}

// inMounts runs in the mount namespace of a container: it mounts, and becomes the command.
const inMounts = `set -e
hostname "$1"; root=$2; user=$3; group=$4; shift 4
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
while [ "$1" != -- ]; do
	mount --bind "$1" "$root$2"
	[ "$3" = rw ] || mount -o remount,bind,ro "$root$2"
	shift 3
done
shift
mount -o remount,bind,ro "$root"
exec setpriv --no-new-privs chroot --userspec="$user:$group" --groups="$group" "$root" "$@"
`

var reference = regexp.MustCompile(`\$\(([A-Za-z_][A-Za-z0-9_]*)\)`)

// start starts the only container of a pod.
func (m *machine) start(pod core.PodTemplateSpec, in instance) *container {
	m.t.Helper()
	c := pod.Spec.Containers[0]
	context := pod.Spec.SecurityContext
	hosts := fmt.Sprintf("127.0.0.1 localhost\n%s\t%s %s\n%s", in.ip, in.fqdn, in.host, m.hosts)
	file := filepath.Join(m.t.TempDir(), "hosts")
	if err := os.WriteFile(file, []byte(hosts), 0o644); err != nil {
		m.t.Fatal(err)
	}
	words := []string{in.host, m.root, fmt.Sprint(*context.RunAsUser), fmt.Sprint(*context.RunAsGroup), file, "/etc/hosts", "rw"}
	for _, dir := range []string{"proc", "dev"} {
		if err := os.MkdirAll(filepath.Join(m.root, dir), 0o755); err != nil {
			m.t.Fatal(err)
		}
	}
	for _, mount := range c.VolumeMounts {
		if err := os.MkdirAll(filepath.Join(m.root, mount.MountPath), 0o755); err != nil {
			m.t.Fatal(err)
		}
		dir, how := in.volumes[mount.Name], "rw"
		if dir == "" {
			m.t.Fatalf("the test has no directory for the volume %s", mount.Name)
		}
		if mount.ReadOnly {
			how = "ro"
		}
		words = append(words, dir, mount.MountPath, how)
	}
	env := append([]string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOSTNAME=" + in.host}, in.env...)
	for _, e := range c.Env {
		value := e.Value
		if e.ValueFrom != nil {
			value = m.field(in, e.ValueFrom.FieldRef.FieldPath)
		}
		env = append(env, e.Name+"="+value)
	}
	words = append(words, "--")
	for _, word := range slices.Concat(c.Command, c.Args) {
		words = append(words, reference.ReplaceAllStringFunc(word, func(ref string) string {
			for _, e := range env {
				if value, ok := strings.CutPrefix(e, ref[2:len(ref)-1]+"="); ok {
					return value
				}
			}
			return ref
		}))
	}
	flags := []string{"--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child", "sh", "-c", inMounts, "sh"}
	run := &container{Cmd: exec.Command("unshare", append(flags, words...)...), name: in.host}
	run.Env, run.Stdout, run.Stderr = env, &run.log, &run.log
	if err := run.Start(); err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = run.Process.Kill() }) // with its children; an error: it has ended
	return run
}

// field returns the value of a field that the downward API has.
func (m *machine) field(in instance, path string) string {
	m.t.Helper()
	if path == "status.podIP" {
		return in.ip
	}
	name, ok := strings.CutPrefix(path, "metadata.labels['")
	value, known := in.labels[strings.TrimSuffix(name, "']")]
	if !ok || !known {
		m.t.Fatalf("the pod has no field %s", path)
	}
	return value
}

// succeed waits for the end of containers, which must succeed within a minute.
func succeed(t *testing.T, all []*container) {
	t.Helper()
	timer := time.AfterFunc(time.Minute, func() {
		for _, c := range all {
			_ = c.Process.Kill() // an error: it has ended
		}
	})
	defer timer.Stop()
	for _, c := range all {
		if err := c.Wait(); err != nil {
			t.Errorf("%s: %v\n%s", c.name, err, &c.log)
		}
	}
}

// listens waits until a TCP port is open.
func listens(t *testing.T, address string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			_ = c.Close()
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}
