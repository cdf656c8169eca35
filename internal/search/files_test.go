// SPDX-License-Identifier: Apache-2.0

package search

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	format "github.com/gvw-project/gvw/internal/search/journal"
)

func testHeader(seed uint64) header {
	return header{Journal: format.Format, Command: []string{"--data=x"}, Space: "l=0..1", Strategy: "random", Seed: seed, Trials: 2, Rungs: []int{0}, Parallel: 1}
}

// A search that cannot use the journal of a running or another search changes neither that nor its folder.
func TestASearchOfTheSameJournalIsRefused(t *testing.T) {
	t.Parallel()
	state := filepath.Join(t.TempDir(), "s")
	first, err := openFiles(state, testHeader(1))
	if err != nil {
		t.Fatal(err)
	}
	cache := filepath.Join(first.dir, "examples.0.cache")
	if err := os.WriteFile(cache, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refused := func(h header, want string) {
		t.Helper()
		before, err := os.ReadFile(state)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := openFiles(state, h); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		if after, err := os.ReadFile(state); err != nil || string(after) != string(before) {
			t.Errorf("the journal has become %q, %v", after, err)
		}
		if _, err := os.Stat(cache); err != nil {
			t.Errorf("a trial has lost its cache: %v", err)
		}
	}
	refused(testHeader(1), "another search is using it")
	refused(testHeader(2), "another search is using it")
	if err := first.journal.Close(); err != nil { // as if the search was killed
		t.Fatal(err)
	}
	refused(testHeader(2), "s is of another search: the seed is 1 there and 2 now")
	next, err := openFiles(state, testHeader(1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(cache); err == nil {
		t.Error("the cache of the killed search still exists")
	}
	if err := next.close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(state + ".work"); err == nil {
		t.Error("the folder still exists")
	}
}

// TestForeignFilesBesideTheJournal checks that a search removes no file of another program.
func TestForeignFilesBesideTheJournal(t *testing.T) {
	t.Parallel()
	for _, name := range []string{".work", ".work/notes.txt", ".work/2024a/x"} {
		state := filepath.Join(t.TempDir(), "s")
		if err := os.MkdirAll(filepath.Dir(state+name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(state+name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := openFiles(state, testHeader(1)); err == nil || !strings.Contains(err.Error(), "give another file to --state") {
			t.Errorf("%s: got %v", name, err)
		}
		if _, err := os.Stat(state + name); err != nil {
			t.Error(err)
		}
	}
	// The files of a killed search of release 0.2.0 were in the folder itself.
	state := filepath.Join(t.TempDir(), "s")
	if err := os.Mkdir(state+".work", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"job1.log", "examples.0123456789abcdef.cache", ".examples.0123456789abcdef.cache.writing-7-00000001"} {
		if err := os.WriteFile(filepath.Join(state+".work", name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := openFiles(state, testHeader(1))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.close(); err != nil {
		t.Fatal(err)
	}
}
