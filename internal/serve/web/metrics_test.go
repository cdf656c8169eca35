// SPDX-License-Identifier: Apache-2.0

package web

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// metricsOf returns the metrics of two models.
func metricsOf(t *testing.T) (all *prometheus.Registry, requests prometheus.Histogram) {
	t.Helper()
	value := float32(1)
	return newMetrics([]Model{newModel(t, "one", &value), newModel(t, "two", &value)})
}

// promtool's rules find no fault.
func TestMetricsLint(t *testing.T) {
	all, requests := metricsOf(t)
	requests.Observe(0.001)
	if problems, err := testutil.GatherAndLint(all); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	if n, err := testutil.GatherAndCount(all); err != nil || n != 2*len(counters)+1 {
		t.Errorf("%d metrics, %v, want %d", n, err, 2*len(counters)+1)
	}
}

// The table of docs/serving.md has every metric with its help, and no other.
func TestTableOfMetrics(t *testing.T) {
	b, err := os.ReadFile("../../../docs/serving.md")
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "| `gvw_") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	_, requests := metricsOf(t)
	described := make(chan *prometheus.Desc, 100)
	collector{}.Describe(described)
	requests.Describe(described)
	close(described)
	for d := range described {
		parts := regexp.MustCompile(`fqName: "([^"]*)", help: "([^"]*)"`).FindStringSubmatch(d.String())
		want = append(want, fmt.Sprintf("| `%s` | %s |", parts[1], parts[2]))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-code +page:\n%s", diff)
	}
}
