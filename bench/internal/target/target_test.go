// SPDX-License-Identifier: Apache-2.0

//go:build linux

package target

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	const text = "71 (a ) b) S 1 70 70 0 -1 4194560 1 2 3 4 150 25 7 8 20 0 9 0 123 456789 10 18446744073709551615 1\n"
	u, group, err := parseStat(text)
	if err != nil || group != 70 || u.CPU != 1750*time.Millisecond || u.Resident != 10*uint64(os.Getpagesize()) {
		t.Errorf("got %+v, group %d, %v", u, group, err)
	}
	for _, bad := range []string{"", "71 (a) S 1", strings.Replace(text, " 150 ", " x ", 1)} {
		if _, _, err := parseStat(bad); err == nil {
			t.Errorf("%q has been parsed", bad)
		}
	}
}

// Lines are the same for each call, with a label and the features.
func TestLines(t *testing.T) {
	a, b := Lines(10, 3), Lines(10, 3)
	if len(a) != 10 || !bytes.Equal(bytes.Join(a, nil), bytes.Join(b, nil)) || bytes.Count(a[9], []byte(" w")) != 3 {
		t.Errorf("got %q and %q", a, b)
	}
}
