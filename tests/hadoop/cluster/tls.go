// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
)

// storePassword encrypts the keystore, which lasts as long as a test.
const storePassword = "of this test"

// keystore returns the file with the key of the web servers and their certificate.
func (c *Cluster) keystore() string { return filepath.Join(c.cfg.Dir, "keystore.p12") }

// Authority returns the file with the certificate of the authority that has signed that of the web servers.
func (c *Cluster) Authority() string { return filepath.Join(c.cfg.Dir, "authority.pem") }

// writeKeys makes an authority and a key of localhost with a certificate of that authority, whose own key is then removed.
func (c *Cluster) writeKeys(ctx context.Context) error {
	for _, args := range [][]string{
		{"-genkeypair", "-alias", "authority", "-dname", "CN=authority", "-keyalg", "EC", "-validity", "2", "-ext", "BC:critical=ca:true"},
		{"-genkeypair", "-alias", "localhost", "-signer", "authority", "-dname", "CN=localhost", "-keyalg", "EC", "-validity", "2", "-ext", "SAN=dns:localhost"},
		{"-exportcert", "-alias", "authority", "-rfc", "-file", c.Authority()},
		{"-delete", "-alias", "authority"},
	} {
		cmd := exec.CommandContext(ctx, filepath.Join(c.cfg.Java, "bin", "keytool"), append(args, "-keystore", c.keystore(), "-storetype", "pkcs12", "-storepass", storePassword)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("cluster: keytool %s: %w\n%s", args[0], err, out)
		}
	}
	return nil
}
