// SPDX-License-Identifier: Apache-2.0

package cli

import "runtime/debug"

// Version returns the version of gvw, of Go and of the commit as the build has recorded them,
// and the version of vw whose models gvw writes.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "gvw (no build information)"
	}
	v := info.Main.Version
	if v == "" {
		v = "(devel)"
	}
	s := "gvw " + v + " " + info.GoVersion
	for _, kv := range info.Settings {
		if kv.Key == "vcs.revision" {
			s += " " + kv.Value[:min(12, len(kv.Value))]
		}
	}
	return s + "\nwrites and reads models of Vowpal Wabbit 9.11.9"
}
