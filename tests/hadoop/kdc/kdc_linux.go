// SPDX-License-Identifier: Apache-2.0

package kdc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// Realm is the realm of each KDC.
const Realm = "GVW.TEST"

// tools are the programs that are needed; Debian installs some of them in /usr/sbin.
var tools = []string{"krb5kdc", "kdb5_util", "kadmin.local", "kinit"}

// KDC is a running Kerberos server.
type KDC struct {
	dir   string
	cmd   *exec.Cmd
	ended chan struct{}
}

// Principal is a user or a service of the realm.
type Principal struct {
	Name    string        // without the realm
	MaxLife time.Duration // of a ticket; 0: the realm's 24 h
}

// Find reports which programs are missing.
func Find() error {
	var errs []error
	for _, tool := range tools {
		if path(tool) == "" {
			errs = append(errs, fmt.Errorf("%s is missing: install krb5-kdc, krb5-admin-server and krb5-user", tool))
		}
	}
	return errors.Join(errs...)
}

func path(tool string) string {
	if p, err := exec.LookPath(tool); err == nil {
		return p
	}
	p := filepath.Join("/usr/sbin", tool)
	if _, err := os.Stat(p); err != nil {
		return ""
	}
	return p
}

// Start makes a realm in an empty folder and starts its server, which ends with Stop.
func Start(ctx context.Context, dir string) (*KDC, error) {
	if err := Find(); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	at := l.Addr().String()
	if err := l.Close(); err != nil {
		return nil, err
	}
	k := &KDC{dir: dir, ended: make(chan struct{})}
	for name, text := range map[string]string{
		"krb5.conf": fmt.Sprintf("[libdefaults]\n default_realm = %s\n dns_lookup_realm = false\n dns_lookup_kdc = false\n rdns = false\n"+
			" udp_preference_limit = 1\n[realms]\n %[1]s = {\n  kdc = %s\n }\n", Realm, at),
		"kdc.conf": fmt.Sprintf("[kdcdefaults]\n kdc_listen = %s\n kdc_tcp_listen = %[1]s\n[realms]\n %s = {\n  database_name = %s\n"+
			"  key_stash_file = %s\n  max_life = 24h\n }\n", at, Realm, k.file("principal"), k.file("stash")),
	} {
		if err := os.WriteFile(k.file(name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	if err := k.run(ctx, "kdb5_util", "create", "-s", "-r", Realm, "-P", "of this test"); err != nil {
		return nil, err
	}
	log, err := os.Create(k.file("log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	k.cmd = exec.Command(path("krb5kdc"), "-n")
	k.cmd.Env, k.cmd.Stdout, k.cmd.Stderr = append(k.cmd.Environ(), k.Env()...), log, log
	k.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	if err := k.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { // Stop waits for it
		defer close(k.ended)
		_ = k.cmd.Wait() // its log has the reason
	}()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", at)
		if err == nil {
			return k, c.Close()
		}
		select {
		case <-k.ended:
			text, _ := os.ReadFile(k.file("log")) // without it the error has no reason
			return nil, fmt.Errorf("kdc: krb5kdc has ended: %s", text)
		default:
		}
		if time.Now().After(deadline) {
			return nil, errors.Join(fmt.Errorf("kdc: krb5kdc does not listen at %s after a minute: %w", at, err), k.Stop())
		}
	}
}

func (k *KDC) file(name string) string { return filepath.Join(k.dir, name) }

// Conf returns the realm's krb5.conf.
func (k *KDC) Conf() string { return k.file("krb5.conf") }

// Env returns the environment for programs of Kerberos.
func (k *KDC) Env() []string {
	return []string{"KRB5_CONFIG=" + k.Conf(), "KRB5_KDC_PROFILE=" + k.file("kdc.conf")}
}

func (k *KDC) run(ctx context.Context, tool string, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path(tool), args...)
	cmd.Env = append(cmd.Environ(), k.Env()...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("kdc: %s: %w\n%s", tool, err, out)
	}
	return nil
}

// Keytab adds principals and returns a file with their keys.
func (k *KDC) Keytab(ctx context.Context, name string, principals ...Principal) (string, error) {
	file := k.file(name + ".keytab")
	for _, p := range principals {
		add := "addprinc -randkey "
		if p.MaxLife > 0 {
			add += fmt.Sprintf("-maxlife %ds ", int(p.MaxLife.Seconds()))
		}
		for _, query := range []string{add + p.Name, "ktadd -k " + file + " " + p.Name} {
			if err := k.run(ctx, "kadmin.local", "-r", Realm, "-q", query); err != nil {
				return "", err
			}
		}
	}
	_, err := os.Stat(file)
	return file, err
}

// Ticket calls kinit and returns the file with the ticket.
func (k *KDC) Ticket(ctx context.Context, keytab, principal string) (string, error) {
	file := k.file(principal + ".ticket")
	return file, k.run(ctx, "kinit", "-c", "FILE:"+file, "-k", "-t", keytab, principal+"@"+Realm)
}

// Stop ends the server.
func (k *KDC) Stop() error {
	_ = k.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-k.ended:
		return nil
	case <-time.After(10 * time.Second):
		return errors.Join(errors.New("kdc: krb5kdc did not end within 10 s of SIGTERM"), k.cmd.Process.Kill())
	}
}
