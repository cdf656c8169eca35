// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/internal/cli"
)

// Keygen runs gvw keygen. It never overwrites a file: a lost key of an authority cannot be
// restored.
func Keygen(_ context.Context, p *cli.Process, c *cli.Command, args []string) error {
	s, err := c.Sets[0].Read(p, args)
	if s == nil {
		return err
	}
	switch {
	case !s.Has("secret") && !s.Has("dir"):
		return cli.Usagef("gvw keygen: --secret or --dir is missing, as in gvw keygen --secret FILE, or gvw keygen --dir DIR --hosts gateway")
	case !s.Has("dir") && s.Has("hosts"), !s.Has("dir") && s.Has("days"):
		return cli.Usagef("--hosts and --days would be ignored without --dir: they are about certificates")
	}
	if file := s.Get("secret"); file != "" {
		if err := writeNew(file, append(auth.NewSecretText(), '\n')); err != nil {
			return err
		}
	}
	if dir := s.Get("dir"); dir != "" {
		return makeSite(dir, s.Get("hosts"), time.Duration(cmp.Or(s.Number("days"), 365))*24*time.Hour)
	}
	return nil
}

// makeSite creates an authority, and certificates for a server and for ranks. hosts are names and
// addresses of the server, separated by commas. All ranks share one certificate: it proves
// that a process belongs to the cluster, not which rank it is.
func makeSite(dir, hosts string, holds time.Duration) error {
	// The server is also reached from its own host, for example by gvw jobs.
	names := []string{"localhost", "127.0.0.1", "::1"}
	for _, h := range strings.Split(hosts, ",") {
		if h = strings.TrimSpace(h); h != "" {
			names = append(names, h)
		}
	}
	// Mkdir fails if the folder exists, which protects the keys in it. Only the owner may list it.
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("cannot make keys (--dir must name a new folder, so that no key is overwritten): %w", err)
	}
	now := time.Now()
	a, err := auth.NewAuthority("gvw "+filepath.Base(dir), now, holds)
	if err != nil {
		return err
	}
	write := func(name string, cert, key []byte, err error) error {
		if err != nil {
			return err
		}
		return errors.Join(writeNew(filepath.Join(dir, name+".crt"), cert), writeNew(filepath.Join(dir, name+".key"), key))
	}
	cert, key, err := a.PEM()
	if err := write("ca", cert, key, err); err != nil {
		return err
	}
	cert, key, err = a.Issue("spanning_tree", names, now, holds)
	if err := write("server", cert, key, err); err != nil {
		return err
	}
	cert, key, err = a.Issue("rank", nil, now, holds)
	return write("rank", cert, key, err)
}

// writeNew creates a file that only its owner can read. It fails if the file exists.
func writeNew(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("cannot make a key: %w", err)
	}
	// Sync: a key that is distributed and then lost in a power failure could not be restored.
	_, err = f.Write(b)
	return errors.Join(err, f.Sync(), f.Close())
}
