// SPDX-License-Identifier: Apache-2.0

package joinflags

import (
	"github.com/gvw-project/gvw/allreduce/verbs"
	"github.com/gvw-project/gvw/internal/cli"
)

// checkTransport checks that the transport fits the other options: TLS protects only what is
// sent over TCP.
func checkTransport(s *cli.Settings) (errs []error) {
	how := s.Get("transport")
	if s.Has("verbs_device") {
		if how != "verbs" && how != "auto" {
			errs = append(errs, cli.Usagef("--verbs_device would be ignored: add --transport verbs or auto"))
		}
		if err := verbs.CheckDevice(s.Get("verbs_device")); err != nil {
			errs = append(errs, cli.Usagef("--verbs_device: %w", err))
		}
	}
	if how == "verbs" && s.Has("tls_cert") {
		errs = append(errs, cli.Usagef("--transport verbs cannot go with --tls_cert: data sent over verbs is not encrypted by TLS"))
	}
	return errs
}
