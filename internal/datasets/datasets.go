// SPDX-License-Identifier: Apache-2.0

// Package datasets finds the data sets that may lie beside the repository, for tests.
//
//	train := datasets.File(t, os.Getenv, "rcv1-mini", "train.vw.gz")
//
// They are in the folder data of GVW_SHARED, or of shared beside the repository. A test that needs a missing one is
// skipped, or fails with REQUIRE_SHARED=1 or REQUIRE_ALL=1.
package datasets

import (
	"os"
	"path/filepath"
	"testing"
)

// File returns the path of a file of a data set, or skips the test. getenv is os.Getenv.
func File(t testing.TB, getenv func(string) string, set, name string) string {
	t.Helper()
	shared, err := getenv("GVW_SHARED"), error(nil)
	if shared == "" {
		shared, err = beside()
	}
	path := filepath.Join(shared, "data", set, name)
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		if getenv("REQUIRE_SHARED") == "1" || getenv("REQUIRE_ALL") == "1" {
			t.Fatalf("REQUIRE_SHARED=1, and %v", err)
		}
		t.Skipf("needs the data sets beside the repository (GVW_SHARED): %v", err)
	}
	return path
}

// beside returns the folder shared beside the repository, in which the test runs.
func beside() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			break
		}
		if parent := filepath.Dir(dir); parent != dir {
			dir = parent
			continue
		}
		err = os.ErrNotExist
	}
	return filepath.Join(dir, "..", "shared"), err
}
