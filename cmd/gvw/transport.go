// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/gvw-project/gvw/allreduce/verbs"
	"github.com/gvw-project/gvw/internal/cli"
)

// checkTransport holds that verbs go with what is given beside them.
func checkTransport(s *settings) (errs []error) {
	how := s.get("transport")
	if s.has("verbs_device") {
		if how != "verbs" && how != "auto" {
			errs = append(errs, cli.Usagef("--verbs_device would be ignored: add --transport verbs or auto"))
		}
		if err := verbs.CheckDevice(s.get("verbs_device")); err != nil {
			errs = append(errs, cli.Usagef("--verbs_device: %w", err))
		}
	}
	if how == "verbs" && s.has("tls_cert") {
		errs = append(errs, cli.Usagef("--transport verbs cannot go with --tls_cert: what goes over verbs is not under TLS"))
	}
	return errs
}
