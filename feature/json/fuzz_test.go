// SPDX-License-Identifier: Apache-2.0

package json_test

import (
	stdjson "encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/internal/featuretest"
)

// FuzzAppendLine: no line makes the parser panic or leave an inconsistent batch. An error does
// not change the batch, and the earlier contents of the batch have no effect. Accepted lines
// without ignored keys are valid JSON.
func FuzzAppendLine(f *testing.F) {
	for i, line := range lines(f) {
		f.Add(line, uint8(i))
	}
	f.Fuzz(func(t *testing.T, line []byte, options uint8) {
		if len(line) > 4096 {
			return
		}
		cfg := feature.Config{Bits: 1 + uint(options>>3), HashAll: options&1 != 0, NoConstant: options&2 != 0, ChainHash: options&4 != 0}
		p := parser(t, cfg)
		var one, two feature.Batch
		err := p.AppendLine(&one, line, 1)
		if e := p.AppendLine(&two, []byte(`{"_tag":"x","a":{"b":1},"c":["d"]}`), 1); e == nil {
			t.Fatal("a text in an array was accepted")
		}
		if e := p.AppendLine(&two, []byte(`{"_tag":"x","a":{"b":1},"c":[1]}`), 1); e != nil {
			t.Fatal(e)
		}
		again := p.AppendLine(&two, line, 1)
		featuretest.HoldsTogether(t, &one, cfg)
		featuretest.HoldsTogether(t, &two, cfg)
		if err != nil {
			if _, ok := errors.AsType[*feature.MalformedError](err); !ok || again == nil || again.Error() != err.Error() || len(one.Examples) != 0 || len(two.Examples) != 1 {
				t.Fatalf("%v, then %v; %d and %d examples", err, again, len(one.Examples), len(two.Examples))
			}
			return
		}
		if again != nil {
			t.Fatal(again)
		}
		a, b := &one.Examples[0], &two.Examples[1]
		if diff := cmp.Diff(one.FeaturesOf(a), two.FeaturesOf(b), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("features of the line by itself and after another line:\n%s", diff)
		}
		var members map[string]stdjson.RawMessage
		trimmed := feature.TrimLine(line)
		if err := stdjson.Unmarshal(trimmed, &members); err != nil && !ignores(trimmed) {
			t.Errorf("%q is accepted, and is no JSON: %v", line, err)
		}
	})
}

// ignores reports whether the line may have a key whose value is ignored.
func ignores(line []byte) bool {
	for i := range line {
		if line[i] == '_' || line[i] == '\\' {
			return true
		}
	}
	return false
}
