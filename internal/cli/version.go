// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"runtime/debug"
	"strings"
)

// release is the version, the commit and the date of a release, separated by blanks. The linker
// sets it (-X). Empty: the build is no release, and the build information has what is known.
var release string

// Version returns the version of gvw, of Go, the commit and its date, as the release or the
// build has recorded them, and the version of vw whose models gvw writes.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "gvw (no build information)"
	}
	v, rest := info.Main.Version, ""
	if v == "" {
		v = "(devel)"
	}
	if parts := strings.Fields(release); len(parts) == 3 {
		v, rest = parts[0], " "+parts[1][:min(12, len(parts[1]))]+" "+parts[2]
	} else {
		rest = recorded(info.Settings)
	}
	return "gvw " + v + " " + info.GoVersion + rest + "\nwrites and reads models of Vowpal Wabbit 9.11.9"
}

// Released returns the version and the day of a release, which are empty in other builds.
func Released() (version, date string) {
	if parts := strings.Fields(release); len(parts) == 3 {
		return parts[0], parts[2]
	}
	return "", ""
}

// recorded returns the commit and the date of its day, as far as the build has recorded them.
func recorded(settings []debug.BuildSetting) (s string) {
	for _, kv := range settings {
		switch kv.Key {
		case "vcs.revision":
			s += " " + kv.Value[:min(12, len(kv.Value))]
		case "vcs.time":
			s += " " + kv.Value[:min(10, len(kv.Value))]
		}
	}
	return s
}
