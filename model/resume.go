// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"slices"
)

// Resume is the state that further training needs besides the weights.
type Resume struct {
	InitialT             float32 // --initial_t
	NormNormalizer       float64 // sum of the examples' squared norms over N
	T                    float64 // examples seen, by weight, with InitialT
	SumLoss              float64
	SumLossSinceLastDump float64
	DumpInterval         float32 // weighted examples at which the next progress row is due
	MinLabel, MaxLabel   float32
	WeightedLabeled      float64 // sum of the weights of labelled examples
	WeightedLabels       float64 // sum of weight·label
	WeightedUnlabeled    float64
	ExampleNumber        uint64
	TotalFeatures        uint64
	TotalWeight          float64 // divisor of NormNormalizer
	OldWeightedLabeled   float64 // WeightedLabeled at the last progress row
	CurrentPass          uint64
	Gravity              float64 // l1_state: 0 without --l1
	Contraction          float64 // l2_state: 1 without --l2
	// Models are the sums of each model, such as a class of --oaa, in a file of
	// --per_model_save_load, which then has no NormNormalizer and TotalWeight. nil: one model.
	Models []ModelSums
}

// ModelSums are the sums that each of several models in a file has for itself.
type ModelSums struct{ NormNormalizer, TotalWeight float64 }

// setModels makes room for the sums of n models; 0: of one, without Models.
func (r *Resume) setModels(n int) {
	if n > 0 {
		r.Models = make([]ModelSums, n)
	}
}

// resumeField is a number of the block: its address, vw's name for it, and the first version
// that has it.
type resumeField struct {
	name  string
	since version
	value any // *float32, *float64 or *uint64
}

// fields lists the block in the order of the file.
func (r *Resume) fields() []resumeField {
	norm := r.each("norm normalizer", version{}, &r.NormNormalizer, func(m *ModelSums) *float64 { return &m.NormNormalizer })
	total := r.each("total_weight", version{7, 10, 1}, &r.TotalWeight, func(m *ModelSums) *float64 { return &m.TotalWeight })
	return slices.Concat([]resumeField{
		{"initial_t", version{}, &r.InitialT},
	}, norm, []resumeField{
		{"t", version{}, &r.T},
		{"sum_loss", version{}, &r.SumLoss},
		{"sum_loss_since_last_dump", version{}, &r.SumLossSinceLastDump},
		{"dump_interval", version{}, &r.DumpInterval},
		{"min_label", version{}, &r.MinLabel},
		{"max_label", version{}, &r.MaxLabel},
		{"weighted_labeled_examples", version{}, &r.WeightedLabeled},
		{"weighted_labels", version{}, &r.WeightedLabels},
		{"weighted_unlabeled_examples", version{}, &r.WeightedUnlabeled},
		{"example_number", version{}, &r.ExampleNumber},
		{"total_features", version{}, &r.TotalFeatures},
	}, total, []resumeField{
		{"sd::oec.weighted_labeled_examples", version{7, 10, 1}, &r.OldWeightedLabeled},
		{"current_pass", version{7, 10, 1}, &r.CurrentPass},
		{"l1_state", version{9, 0, 0}, &r.Gravity},
		{"l2_state", version{9, 0, 0}, &r.Contraction},
	})
}

// each returns a number that every model has for itself.
func (r *Resume) each(name string, since version, one *float64, of func(*ModelSums) *float64) []resumeField {
	if r.Models == nil {
		return []resumeField{{name, since, one}}
	}
	var fields []resumeField
	for i := range r.Models {
		fields = append(fields, resumeField{fmt.Sprintf("%s_%d", name, i), since, of(&r.Models[i])})
	}
	return fields
}

// version is a version of vw.
type version [3]int

func (v version) less(w version) bool { return slices.Compare(v[:], w[:]) < 0 }

// parseVersion reads "9.11.2"; what follows the third number ("-rc1") is
// ignored.
func parseVersion(s string) (v version, ok bool) {
	i := 0
	for part := range v {
		start := i
		for i < len(s) && s[i] >= '0' && s[i] <= '9' && i-start < 6 {
			v[part] = v[part]*10 + int(s[i]-'0')
			i++
		}
		if i == start {
			return v, false
		}
		if part < 2 {
			if i >= len(s) || s[i] != '.' {
				return v, false
			}
			i++
		}
	}
	return v, true
}
