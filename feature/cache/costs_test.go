// SPDX-License-Identifier: Apache-2.0

package cache_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/cache"
)

// A cache keeps the classes of labels, and is valid for their kind only. Damaged classes are noticed.
func TestLabelsOfSeveralClasses(t *testing.T) {
	cfg := feature.Config{Bits: 18, Labels: feature.CostLabels}
	key := cache.Key{Features: cfg}
	all := batches(t, cfg, "1:0.5 3:2 't|a b:2 c\n|a b\n2 3 |a\n", "7:-1 |a q\n4:1 |b\n")
	path := write(t, key, cache.Text{}, all)
	r, err := cache.Open(path, key, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := readAll(r, cfg.Bits)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(all, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, kind := range []feature.LabelKind{feature.SimpleLabels, feature.ClassLabels, feature.MultiLabels} {
		other := key
		other.Features.Labels = kind
		if _, err := cache.Open(path, other, nil); err == nil {
			t.Errorf("a cache of costs was opened for labels of kind %d", kind)
		}
	}
}
