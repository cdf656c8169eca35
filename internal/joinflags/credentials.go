// SPDX-License-Identifier: Apache-2.0

package joinflags

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/launch"
)

// tlsNeeded are given together or not at all.
var tlsNeeded = []string{"tls_cert", "tls_key", "tls_ca"}

// CheckCredentials checks that the options for credentials are complete, and that none would be
// ignored. It reads no file.
func CheckCredentials(s *cli.Settings) (errs []error) {
	for _, name := range tlsNeeded {
		if !s.Has(name) && HasAny(s, tlsNeeded) {
			errs = append(errs, cli.Usagef("--%s is missing: --%s go together (gvw keygen makes them)", name, strings.Join(tlsNeeded, ", --")))
		}
	}
	switch {
	case s.Has("encrypt") && s.Has("tls_cert"):
		errs = append(errs, cli.Usagef("--encrypt would be ignored: with --tls_cert connections are TLS anyway"))
	case s.Has("encrypt") && !s.Has("secret_file"):
		errs = append(errs, cli.Usagef("--encrypt without --secret_file FILE: without certificates only a secret proves who connects"))
	}
	if s.Get("checksum") == "off" && s.Has("secret_file") && !s.Has("encrypt") && !s.Has("tls_cert") {
		errs = append(errs, cli.Usagef("--checksum off with --secret_file: tags made with the secret replace checksums; without them anyone on the network could change the model: leave --checksum out, or give --encrypt"))
	}
	if s.Has("allow_vw") && !s.Has("secret_file") && !s.Has("tls_cert") {
		errs = append(errs, cli.Usagef("--allow_vw would be ignored: without --secret_file or --tls_cert vw workers are never kept out"))
	}
	if s.Has("allow") {
		if _, err := networks(s.Get("allow")); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// networks parses a list such as 10.0.0.0/8,192.168.1.7. A single address becomes a network of
// one address.
func networks(text string) (all []netip.Prefix, err error) {
	if text == "" {
		return nil, nil
	}
	for word := range strings.SplitSeq(text, ",") {
		n, err := netip.ParsePrefix(word)
		if err != nil {
			ip, ierr := netip.ParseAddr(word)
			if ierr != nil {
				return nil, cli.Usagef("--allow %s: %q is not a network such as 10.0.0.0/8", text, word)
			}
			n = netip.PrefixFrom(ip, ip.BitLen())
		}
		all = append(all, n)
	}
	return all, nil
}

// Credentials reads the files that the options name, and the secret of a launcher. It returns
// nil if there are none. The secret of --secret_file replaces that of the launcher.
func Credentials(p *cli.Process, get func(name string) string, encrypt, allowVW bool) (*auth.Credentials, error) {
	creds := &auth.Credentials{AllowVW: allowVW}
	var err error
	if creds.Secret, err = inheritedSecret(p); err != nil {
		return nil, err
	}
	if file := get("secret_file"); file != "" {
		if creds.Secret, err = auth.ReadSecret(file); err != nil {
			return nil, fmt.Errorf("--secret_file: %w", err)
		}
	}
	if cert := get("tls_cert"); cert != "" {
		if creds.TLS, err = auth.ReadTLS(cert, get("tls_key"), get("tls_ca")); err != nil {
			return nil, fmt.Errorf("--tls_cert, --tls_key, --tls_ca: %w", err)
		}
	}
	if encrypt {
		if creds.TLS, err = auth.Ephemeral(); err != nil {
			return nil, fmt.Errorf("--encrypt: %w", err)
		}
	}
	if !creds.Any() {
		return nil, nil
	}
	return creds, nil
}

// inheritedSecret reads the secret that gvw run passes to its workers, or returns nil. It is in
// a pipe, so it can be read only once.
func inheritedSecret(p *cli.Process) (*auth.Secret, error) {
	value := p.Getenv(launch.EnvSecret)
	if value == "" {
		return nil, nil
	}
	fd, err := strconv.ParseUint(value, 10, 31)
	if err != nil {
		return nil, cli.Usagef("%s=%s is no file descriptor: unset this variable; only gvw run sets it", launch.EnvSecret, value)
	}
	f := os.NewFile(uintptr(fd), "secret")
	b, err := io.ReadAll(io.LimitReader(f, auth.MaxSecret+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("cannot read the secret from descriptor %s (%s): %w", value, launch.EnvSecret, err)
	}
	return auth.NewSecret(b)
}

// Guard adds the credentials of a rank to its configuration: secret and certificates, the
// networks of --allow, and the token of the job. It reads an inherited secret, so it must be
// called once.
func Guard(p *cli.Process, c *cli.Context, cfg *allreduce.Config) (err error) {
	if cfg.Credentials, err = Credentials(p, c.String, c.Bool("encrypt"), c.Bool("allow_vw")); err != nil {
		return err
	}
	// Under a launcher whose server is on the loopback interface every connection is.
	ip := net.ParseIP(c.String("span_server"))
	cfg.NoTags = p.Getenv(launch.EnvSecret) != "" && ip != nil && ip.IsLoopback()
	if cfg.Allow, err = networks(c.String("allow")); err != nil {
		return err
	}
	cfg.Owner, err = JobToken(c.String("job_token"))
	return err
}

// JobToken reads the secret that permits cancelling a job. It returns nil without a file; then
// the server's credentials permit it.
func JobToken(file string) (*auth.Secret, error) {
	if file == "" {
		return nil, nil
	}
	s, err := auth.ReadSecret(file)
	if err != nil {
		return nil, fmt.Errorf("--job_token: %w", err)
	}
	return s, nil
}
