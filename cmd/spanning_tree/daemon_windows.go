// SPDX-License-Identifier: Apache-2.0

package main

import "os"

// startDaemon returns a usage error: without fork or sessions there is no background server.
func startDaemon([]string) (code, port int, err error) {
	return 0, 0, usage("on Windows the server cannot run in the background: add --nondaemon")
}

// daemonChild reports that this process is not a background child.
func daemonChild() (ready func(int, *os.File), child bool) { return func(int, *os.File) {}, false }

// ignoreBrokenPipes does nothing: Windows has no SIGPIPE.
func ignoreBrokenPipes() {}
