// SPDX-License-Identifier: Apache-2.0

package flags

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/learn"
)

// leaves calls f for each exported field of a struct with its path. It descends into groups of
// fields.
func leaves(prefix string, t reflect.Type, f func(path string, t reflect.Type)) {
	for i := range t.NumField() {
		field := t.Field(i)
		switch {
		case !field.IsExported():
		case field.Type.Kind() == reflect.Struct && !strings.HasPrefix(field.Type.Name(), "Option["):
			leaves(prefix+field.Name+".", field.Type, f)
		default:
			f(prefix+field.Name, field.Type)
		}
	}
}

// noOption lists the fields that no option sets or names: commands set them.
var noOption = []string{
	"CheckMemory", "Data.CacheCalls", "Model.Open", "Model.Loaded", "Output.Create",
	"Features.Namespaces.Dictionaries", "Features.Namespaces.DictionaryLines", // Run fills them
	"Model.Start.Positive", // Run takes it from the learner
	"Data.CSV.Several",     // Run sets it for Parquet
	"Reg.OutputOnAnyRank", "Malt.Custom", "Diagnostics.Log", "Diagnostics.Watch", "Diagnostics.Vectors",
	"Cluster.Join", "Cluster.Group", "Cluster.SingleWriter",
}

// Each field of the learner's configuration belongs to an option, and each option to
// fields that exist and that can take its value.
func TestOptionsAndFieldsMatch(t *testing.T) {
	fields := map[string]reflect.Type{}
	leaves("", reflect.TypeFor[learn.Config](), func(path string, t reflect.Type) { fields[path] = t })
	unused := slices.Clone(noOption)
	for path := range fields {
		if i := slices.Index(unused, path); i >= 0 {
			unused = slices.Delete(unused, i, i+1)
			continue
		}
		if !slices.ContainsFunc(Learn, func(s *cli.Spec) bool {
			return slices.Contains(strings.Split(s.Sets, ","), path) || s.About == path
		}) {
			t.Errorf("no option sets or names the field %s", path)
		}
	}
	for _, path := range unused {
		t.Errorf("noOption has %s, which is not a field", path)
	}

	leaves(JobPrefix, reflect.TypeFor[allreduce.Config](), func(path string, t reflect.Type) { fields[path] = t })
	for _, s := range Learn {
		if s.Sets != "" && s.About != "" {
			t.Errorf("--%s: both sets and about", s.Name)
		}
		if _, ok := fields[s.About]; s.About != "" && !ok {
			t.Errorf("--%s: no field %s", s.Name, s.About)
		}
		if s.Sets == "" {
			continue
		}
		for path := range strings.SplitSeq(s.Sets, ",") {
			want, ok := fields[path]
			if !ok {
				t.Errorf("--%s: no field %s", s.Name, path)
				continue
			}
			if s.Read == nil && !fits(s, want) {
				t.Errorf("--%s: field %s of type %v cannot take the value", s.Name, path, want)
			}
		}
	}
}

// fits reports whether a field can take an option's value without a Read.
func fits(s *cli.Spec, t reflect.Type) bool {
	if t.Kind() == reflect.Struct {
		value, _ := t.FieldByName("Value")
		t = value.Type
	}
	switch k := t.Kind(); {
	case s.Kind == cli.Boolean:
		return k == reflect.Bool
	case s.Kind == cli.Integer:
		return k >= reflect.Int && k <= reflect.Uint64
	case s.Kind == cli.Float:
		return k == reflect.Float32 || k == reflect.Float64
	case s.Kind == cli.List && !s.Single, s.Repeat:
		return k == reflect.Slice
	case s.Kind == cli.Duration:
		return t.String() == "time.Duration"
	default:
		return k == reflect.String
	}
}
