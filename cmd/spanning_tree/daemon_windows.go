// SPDX-License-Identifier: Apache-2.0

package main

import "os"

func startDaemon([]string) (code, port int, err error) {
	return 0, 0, usage("on Windows the server cannot run in the background: add --nondaemon")
}

func daemonChild() (ready func(int, *os.File), child bool) { return func(int, *os.File) {}, false }

func ignoreBrokenPipes() {}
