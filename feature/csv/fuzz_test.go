// SPDX-License-Identifier: Apache-2.0

package csv_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/csv"
	"github.com/gvw-project/gvw/feature/internal/featuretest"
)

// FuzzAppendLine: no header, row or option makes the parser panic or leave an inconsistent
// batch. An error does not change the batch, and the earlier contents of the batch have no
// effect.
func FuzzAppendLine(f *testing.F) {
	for name, c := range recorded {
		rows := rows(f, name)
		for i, row := range rows[1:] {
			f.Add(rows[0], row, c.csv.Header, c.csv.Separator, c.csv.NamespaceValues, uint8(i))
		}
	}
	f.Fuzz(func(t *testing.T, header, row []byte, names, separator, values string, options uint8) {
		if len(header)+len(row)+len(names)+len(values) > 4096 {
			return
		}
		cfg := feature.Config{Bits: 1 + uint(options>>3), HashAll: options&1 != 0, NoConstant: options&2 != 0}
		opts := csv.Config{Header: names, Separator: separator, NamespaceValues: values, NoFileHeader: options&4 != 0 && names != ""}
		p, err := csv.NewParser(cfg, opts)
		if err != nil {
			if opts.Validate() == nil {
				t.Fatal(err)
			}
			return
		}
		var one, two feature.Batch
		if !opts.NoFileHeader {
			if err := p.Header(&one, header); err != nil {
				return
			}
		}
		one.Reset()
		first := p.AppendLine(&one, row, 1)
		featuretest.HoldsTogether(t, &one, cfg)
		before := len(one.Examples)
		again := p.AppendLine(&one, row, 1)
		featuretest.HoldsTogether(t, &one, cfg)
		if (first == nil) != (again == nil) || first != nil && (first.Error() != again.Error() || len(one.Examples) != 0) || len(one.Examples) != 2*before {
			t.Fatalf("%v, then %v; %d and %d examples", first, again, before, len(one.Examples)-before)
		}
		if before == 0 {
			return
		}
		if diff := cmp.Diff(one.FeaturesOf(&one.Examples[0]), one.FeaturesOf(&one.Examples[1]), cmpopts.EquateEmpty(), cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("the same row twice:\n%s", diff)
		}
		if err := p.AppendLine(&two, bytes.TrimSuffix(row, []byte("\n")), 1); err != nil || len(two.Examples) != 1 {
			t.Errorf("without a line feed: %v, %d examples", err, len(two.Examples))
		}
	})
}
