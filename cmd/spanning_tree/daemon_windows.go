// SPDX-License-Identifier: Apache-2.0

package main

func startDaemon([]string) (int, error) {
	return 0, usage("on Windows the server runs in the foreground: give --nondaemon")
}

func daemonChild() (ready func(), child bool) { return func() {}, false }

func ignoreBrokenPipes() {}
