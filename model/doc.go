// SPDX-License-Identifier: Apache-2.0

// Package model reads and writes Vowpal Wabbit's regressor files: the binary
// form of -f and -i, and the text of --readable_model.
//
// Writing takes a [Regressor], whose weights are a [View] on whatever array
// the learner keeps:
//
//	r := &model.Regressor{
//		Header:  model.Header{MinLabel: -50, MaxLabel: 50, Bits: 18},
//		Weights: model.View{Data: weights, Stride: 4, Slots: []int{0}},
//	}
//	err := model.Write(file, r)
//
// Reading has two steps, so that the weights go straight to where the learner
// wants them once the header has told how many there are:
//
//	d, err := model.NewDecoder(file, model.Limits{})
//	…  // d.Header.Bits, d.Resume, d.Floats
//	n, err := d.Weights(model.View{Data: weights, Stride: 4, Slots: []int{0, 1, 2}})
//
// [Read] does both into an array of its own. [ReadText] reads the text of
// --readable_model and of --invert_hash, [WriteExact] writes one that loses nothing. [ReadTopics] and
// [WriteTopics] have the models of --lda, which [Read] refuses.
//
// # The file
//
// All numbers are little-endian. Written by vw 9.0 and later:
//
//	u32 length, version text and NUL       "9.11.9"
//	u32 length, id text and NUL
//	'm'
//	f32 min label, f32 max label
//	u32 bits, u32 lda
//	u32 count, 3 bytes each: n-grams
//	u32 count, 3 bytes each: skips
//	u32 length, kept options and NUL       " --link logistic --quadratic ab"
//	u32 4, u32 checksum                    of all after the version
//	(models of --boosting --alg logistic: u32 count, that many f32; adaptive: twice as many)
//	u8 resume                              1: the block follows
//	   f32 initial_t, f64 norm normalizer, t, sum_loss, sum_loss_since_last_dump,
//	   f32 dump_interval, min_label, max_label,
//	   f64 weighted_labeled_examples, weighted_labels, weighted_unlabeled_examples,
//	   u64 example_number, total_features,
//	   f64 total_weight, old weighted_labeled_examples, u64 current_pass,
//	   f64 l1_state, l2_state
//	   (with --per_model_save_load kept: as many norm normalizers and total_weights,
//	   each in the places of the one, as the learners have models, such as classes of --oaa)
//	then to the end, for each weight that is not 0:
//	   u32 index (u64 from 31 bits on), f32 weight, with resume also G and N
//	   as the update rule has them
//	(models of --lda and --rank: instead of resume flag and weights, for each feature
//	   u64 index, its f32)
//
// Differences of older files: l1_state and l2_state since 9.0.0, id since
// 8.0.3, checksum since 8.0.1 (chained since 8.0.2). 7.6 to 7.10.0 have two
// lists of interactions, u32 count and 2 (3) bytes each, before lda, and their
// resume block ends with total_features.
//
// # Contract
//
// Write always writes the layout of version [Version]. What Read accepts it
// has checked: lengths, counts and indices against [Limits] and the header,
// and the checksum. A file of any content makes it return an error that names
// the offset and the field, never panic, and never allocate more than the
// limits allow. Nothing here opens a file.
package model
