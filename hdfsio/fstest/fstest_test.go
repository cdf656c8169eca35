// SPDX-License-Identifier: Apache-2.0

package fstest_test

import (
	"testing"
	"time"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/hdfsio/fstest"
)

func TestLocal(t *testing.T) {
	fstest.Run(t, fstest.Config{FS: hdfsio.Local{}, Dir: t.TempDir()})
}

func TestPlainNamesAmongURLs(t *testing.T) {
	fstest.Run(t, fstest.Config{FS: &hdfsio.URLs{}, Dir: t.TempDir()})
}

func TestWatched(t *testing.T) {
	fstest.Run(t, fstest.Config{FS: &hdfsio.Watched{FS: hdfsio.Local{}, Within: time.Minute}, Dir: t.TempDir()})
}
