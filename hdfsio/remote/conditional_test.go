// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/gvw-project/gvw/hdfsio"
)

// The condition of a commit is checked when all bytes have arrived, and again before each further attempt of the rename.
// A condition that fails leaves nothing, and its error is not one of the file system.
func TestTheConditionOfACommit(t *testing.T) {
	denied := errors.New("denied")
	for _, denies := range []int{0, 1, 2} { // the check that fails; 0: none
		synctest.Test(t, func(t *testing.T) {
			f, d := newFS(t)
			out := weights(t, f)
			var calls []string
			failed, checks := false, 0
			d.fail = func(op, _ string) error {
				if op == "put" || op == "rename" {
					calls = append(calls, op)
				}
				if op == "rename" && !failed {
					failed = true
					return errBroken
				}
				return nil
			}
			err := hdfsio.CommitIf(out, func() error {
				calls = append(calls, "check")
				if checks++; checks == denies {
					return denied
				}
				return nil
			})
			want := []string{"put", "check", "rename", "check", "rename"}
			if denies > 0 {
				want = want[:2*denies]
			}
			if !slices.Equal(calls, want) {
				t.Errorf("check %d fails: got the calls %v, want %v", denies, calls, want)
			}
			if _, is := errors.AsType[*hdfsio.Error](err); is || (denies > 0) != errors.Is(err, denied) || denies == 0 && err != nil {
				t.Errorf("check %d fails: got %v", denies, err)
			}
			if _, err := os.Stat(d.local("model")); (err == nil) != (denies == 0) {
				t.Errorf("check %d fails: the file: %v", denies, err)
			}
			if found, _ := filepath.Glob(d.local(".*")); len(found) > 0 {
				t.Errorf("left behind: %v", found)
			}
		})
	}
}
