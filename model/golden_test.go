// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// goldenModels lists the NAME.model files that vw has written: the small ones in testdata, and
// all of the reference data if it exists.
func goldenModels(t testing.TB) []string {
	t.Helper()
	var paths []string
	for _, pattern := range []string{"testdata/*/*.model", filepath.Join(sharedRoot(), "golden", "*", "*.model")} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	if len(paths) < 14 {
		t.Fatalf("found only %v", paths)
	}
	return paths
}

// sharedRoot returns the folder of reference data beside the repository, or "" if there is
// none.
func sharedRoot() string {
	if root := os.Getenv("GVW_SHARED"); root != "" {
		return root
	}
	for dir := ".."; len(dir) < 20; dir = filepath.Join("..", dir) {
		if st, err := os.Stat(filepath.Join(dir, "shared", "golden")); err == nil && st.IsDir() {
			return filepath.Join(dir, "shared")
		}
	}
	return "no reference data"
}

func TestSharedIsThere(t *testing.T) {
	found, _ := filepath.Glob(filepath.Join(sharedRoot(), "golden", "*", "*.model"))
	if len(found) > 0 {
		return
	}
	if os.Getenv("REQUIRE_SHARED") == "1" {
		t.Fatal("no reference data: set GVW_SHARED to its folder")
	}
	t.Skip("no reference data: only the models in testdata are compared")
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestGoldenModels decodes models of vw, compares them line by line with vw's readable form,
// and writes them again: of a 9.x file only the version may differ.
func TestGoldenModels(t *testing.T) {
	for _, path := range goldenModels(t) {
		name := filepath.Base(filepath.Dir(path)) + "/" + strings.TrimSuffix(filepath.Base(path), ".model")
		t.Run(name, func(t *testing.T) {
			binary := readFile(t, path)
			text := string(readFile(t, strings.TrimSuffix(path, ".model")+".rm"))
			r, err := Read(bytes.NewReader(binary), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			switch r.Version[:2] {
			case "7.":
				compareOld(t, r, text)
				return
			case "8.":
				compare8(t, r, text)
				return
			}
			var got bytes.Buffer
			if err := WriteReadable(&got, r); err != nil {
				t.Fatal(err)
			}
			compareText(t, got.String(), strings.Replace(text, r.Version, Version, 1))
			got.Reset()
			if err := Write(&got, r); err != nil {
				t.Fatal(err)
			}
			if want := bytes.Replace(binary, []byte(r.Version), []byte(Version), 1); !bytes.Equal(got.Bytes(), want) {
				t.Errorf("written back, %d bytes differ from vw's %d", got.Len(), len(want))
			}
		})
	}
}

// compareText reports only the first lines that differ, because a diff of 90,000 lines is
// unreadable.
func compareText(t *testing.T, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	t.Errorf("got %d lines, want %d", len(g), len(w))
	for i, bad := 0, 0; i < min(len(g), len(w)) && bad < 5; i++ {
		if g[i] != w[i] {
			t.Errorf("line %d: got %q, want %q", i+1, g[i], w[i])
			bad++
		}
	}
}

// compare8 compares with the readable form of vw 8, which has another order of options and
// lacks l1_state and l2_state.
func compare8(t *testing.T, r *Regressor, text string) {
	t.Helper()
	_, want, _ := strings.Cut(text, "\nChecksum: ")
	_, want, _ = strings.Cut(want, "\n")
	_, got, _ := strings.Cut(readable(t, r), "\nChecksum: ")
	_, got, _ = strings.Cut(got, "\n")
	compareText(t, strings.Replace(got, "l1_state 0\nl2_state 1\n", "", 1), want)
}

// compareOld compares with the readable form of vw 7.10, which prints floats
// with %f.
func compareOld(t *testing.T, r *Regressor, text string) {
	t.Helper()
	head, body, ok := strings.Cut(text, "\n:0\n")
	if !ok {
		t.Fatal("the readable model has no weights section")
	}
	fixed := func(v float32) string { return strconv.FormatFloat(float64(v), 'f', 6, 32) }
	want := strings.Join([]string{
		"Version " + r.Version, "Min label:" + fixed(r.MinLabel), "Max label:" + fixed(r.MaxLabel),
		"bits:" + strconv.Itoa(int(r.Bits)), "0 pairs: ", "0 triples: ", "lda:0", "0 ngram: ", "0 skip: ", "options:",
	}, "\n")
	if d := cmp.Diff(want, head); d != "" {
		t.Errorf("header (-got +want)\n%s", d)
	}
	var got strings.Builder
	for i, w := range r.Weights.Data {
		if w != 0 {
			got.WriteString(strconv.Itoa(i) + ":" + fixed(w) + "\n")
		}
	}
	compareText(t, got.String(), body)
}
