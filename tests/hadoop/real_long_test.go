// SPDX-License-Identifier: Apache-2.0

//go:build long

package hadoop

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/tests/harness"
)

// On real sets in HDFS, the model of four maps equals that of four local workers and reaches
// the reference scores of tests/real_test.go.
func TestRealSets(t *testing.T) {
	hadoop(t)
	for _, c := range []struct {
		set, options string
		logLoss      float64
	}{
		{"rcv1-mini", "--loss_function logistic --hybrid 4:40 --l2 0.01", 0.2879},
		{"a9a", "--loss_function logistic --hybrid 2:40 --l2 1", 0.3241},
	} {
		t.Run(c.set, func(t *testing.T) {
			dir, err := harness.Data{Root: "../..", Sets: os.Getenv("GVW_SHARED")}.Shared("data", c.set)
			if err != nil {
				if os.Getenv("REQUIRE_SHARED") == "1" {
					t.Fatalf("REQUIRE_SHARED=1, and %v", err)
				}
				t.Skipf("needs the data sets beside the repository (GVW_SHARED): %v", err)
			}
			in := putInput(t, c.set, gunzip(t, filepath.Join(dir, "train.vw.gz")))
			options := strings.Fields(c.options)
			s := submit(t, in.hdfs, options...)
			s.wait(0)
			s.model(in.want(t, options...))
			cmd := exec.Command(filepath.Join(shared.programs, "gvw"), "-d", filepath.Join(dir, "test.vw.gz"), "-t", "-i", "model", "--loss_function", "logistic", "--metrics", "logloss", "--metrics_file", "measured", "--quiet")
			cmd.Dir = s.dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			text, err := os.ReadFile(filepath.Join(s.dir, "measured"))
			if err != nil {
				t.Fatal(err)
			}
			var measured struct{ Metrics map[string]float64 }
			if err := json.Unmarshal(text, &measured); err != nil || measured.Metrics["logloss"] == 0 {
				t.Fatalf("no log-loss in %s: %v", text, err)
			}
			got := measured.Metrics["logloss"]
			t.Logf("log-loss %.4f, reference %.4f", got, c.logLoss)
			if got > 1.02*c.logLoss {
				t.Errorf("log-loss %.4f, want at most 2 %% above %.4f", got, c.logLoss)
			}
		})
	}
}
