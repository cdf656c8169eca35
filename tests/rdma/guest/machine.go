// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

//go:embed init.sh
var initScript []byte

//go:embed devices.sh
var devicesScript []byte

// Machine describes a guest.
type Machine struct {
	Kernel *Kernel
	Memory int // in MiB; 0 means 1024
	CPUs   int // 0 means 2
	// Counted makes the guest's clock count instructions, 2 ns each, and skip idle time.
	// Durations in the guest then do not depend on the host. With 1 CPU they are equal in each
	// run, to within a few percent.
	Counted bool

	files tree
	err   error
}

// Add copies a file of the host, and the shared libraries that it needs, to the guest under
// name, a path without a leading slash. Run returns its errors.
func (m *Machine) Add(file, name string) {
	m.begin()
	if err := m.files.add(file, name); err != nil {
		m.err = errors.Join(m.err, err)
	}
}

// Write adds a file with this content to the guest.
func (m *Machine) Write(name string, data []byte) {
	m.begin()
	m.files.put(name, program, data)
}

func (m *Machine) begin() {
	if m.files == nil {
		m.files = tree{}
	}
}

// system adds what every guest has.
func (m *Machine) system() error {
	m.begin()
	t := m.files
	for _, dir := range []string{"dev", "proc", "sys", "tmp", "run", "root", "etc/libibverbs.d"} {
		t.put(dir, folder, nil)
	}
	t.put("dev/console", charDevice, nil)
	t.put("init", program, initScript)
	t.put("devices", program, devicesScript)
	t.put("etc/passwd", plain, []byte("root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/tmp:/bin/sh\n"))
	t.put("etc/hosts", plain, []byte("127.0.0.1 localhost\n"))
	var names []string
	for _, mod := range m.Kernel.Modules {
		names = append(names, filepath.Base(mod))
		m.Add(mod, "modules/"+filepath.Base(mod))
	}
	t.put("modules/order", plain, []byte(strings.Join(names, "\n")+"\n"))
	m.Add("/bin/busybox", "bin/busybox")
	t.put("bin/sh", symlink, []byte("busybox"))
	for _, tool := range []string{"ip", "rdma"} {
		file, err := exec.LookPath(tool)
		if err != nil {
			file = "/usr/sbin/" + tool
		}
		m.Add(file, "bin/"+tool)
	}
	m.Add("/etc/libibverbs.d/rxe.driver", "etc/libibverbs.d/rxe.driver")
	providers, _ := filepath.Glob("/usr/lib/x86_64-linux-gnu/libibverbs/librxe-*.so")
	if len(providers) == 0 {
		return missing("no provider of Soft-RoCE in /usr/lib/x86_64-linux-gnu/libibverbs")
	}
	for _, p := range providers {
		m.Add(p, strings.TrimPrefix(p, "/"))
	}
	// C programs load it when a thread ends.
	m.Add("/lib/x86_64-linux-gnu/libgcc_s.so.1", "lib/x86_64-linux-gnu/libgcc_s.so.1")
	return m.err
}

// exitMark begins the line with which the guest reports a command's exit code.
const exitMark = "guest-exit "

// Run boots the guest, runs the command in its shell, and copies its output to w, until ctx
// ends. It returns the command's exit code.
func (m *Machine) Run(ctx context.Context, command string, w io.Writer) (code int, err error) {
	if err := m.system(); err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "gvw-guest-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	m.files.put("command", program, []byte(command+"\n"))
	image, console := filepath.Join(dir, "image"), filepath.Join(dir, "console")
	f, err := os.Create(image)
	if err != nil {
		return 0, err
	}
	if err := errors.Join(m.files.write(f), f.Close()); err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, "nice", append([]string{"-n", "10", "qemu-system-x86_64"}, m.arguments(image, console)...)...)
	cmd.WaitDelay = 5 * time.Second
	var talk bytes.Buffer
	cmd.Stderr = &talk
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, missing("%w", err)
	}
	code = -1
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := strings.TrimRight(lines.Text(), "\r")
		if text, ok := strings.CutPrefix(line, exitMark); ok {
			if code, err = strconv.Atoi(text); err != nil {
				code = -1
			}
			continue
		}
		fmt.Fprintln(w, line)
	}
	err = cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return 0, fmt.Errorf("the guest: %w; its console ends:\n%s", context.Cause(ctx), tail(console))
	case code < 0:
		return 0, fmt.Errorf("the guest has died (%v) %s; its console ends:\n%s", err, talk.Bytes(), tail(console))
	}
	return code, nil
}

// arguments returns QEMU's arguments. The guest must not use the processor's own clock, which
// is unreliable on a busy host.
func (m *Machine) arguments(image, console string) []string {
	memory, cpus := m.Memory, m.CPUs
	if memory == 0 {
		memory = 1024
	}
	if cpus == 0 {
		cpus = 2
	}
	accel, counted := "tcg,thread=multi", []string(nil)
	if m.Counted {
		accel, counted = "tcg,thread=single", []string{"-icount", "shift=1,sleep=off"}
	}
	return append(counted,
		"-machine", "pc", "-accel", accel, "-cpu", "Nehalem", "-smp", strconv.Itoa(cpus), "-m", strconv.Itoa(memory),
		"-nic", "none", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
		"-serial", "file:"+console, "-chardev", "stdio,id=out,signal=off", "-serial", "chardev:out",
		"-kernel", m.Kernel.Image, "-initrd", image,
		"-append", "console=ttyS0 quiet panic=-1 mitigations=off nokaslr no_timer_check clocksource=hpet tsc=unstable",
	)
}

// tail returns the end of a file.
func tail(file string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-2000):])
}
