// SPDX-License-Identifier: Apache-2.0

// Package nn has neural networks with fully connected layers, which learn by stochastic gradients.
//
//	m, err := nn.New(nn.Config{Inputs: 784, Hidden: []int{64}, Outputs: 10})
//	for pass := range passes {
//		for _, ex := range examples {
//			m.Update(ex, pass)
//		}
//		m.EndPass(pass)
//	}
//	m.Finish()
//	class := nn.Choose(m.Scores(x))
//
// # Layers
//
// An input is a list of features. Each layer has a row of weights for each unit of the layer below, and one more row,
// the biases, so that a feature costs one row and an example costs nothing for features that it lacks. Hidden layers
// end in Config.Activation. With Config.Embedding the first one ends in none: its rows are then embeddings of the
// features, as in nets for text (embedding, hidden layer, score). Features with an index that is not below
// Config.Inputs are ignored.
//
// # Inputs
//
// Config.Center and Config.Scale standardise dense inputs. Config.Quantiles replaces each by its place among the values that
// [Quantiles] has found in a sample: the result is uniform, whatever the scale and the outliers of the input. Config.Text is
// for counts of words.
//
// # Losses
//
//   - [Logistic]: one output, the log-odds of class 1 against class 0
//   - [Softmax]: an output for each class, the negative log-likelihood
//   - [Ranking]: an output for each class, the mean of max(0, 1 − own score + other score) over the other classes
//
// # Steps
//
// A step takes the mean gradient of Config.Batch examples, by AdaGrad or with momentum. It changes the first layer's
// rows for features of the batch, and all others. Regularisation and momentum of a row wait until its feature occurs.
//
// With Config.Average, Finish makes the weights their mean at the ends of passes, from the second on (stochastic weight
// averaging: Izmailov et al., 2018). The steps of a constant rate wander around a minimum; their mean is near it.
//
// # In parallel
//
// Config.Weights may be the values of shared vectors (package malt), one a layer. A rank sends the rows that Config.Stepped
// has reported since its last exchange, and all of the upper layers. The mean of Config.Average is memory of this model
// only: each learner has its own, and Finish writes it to the vectors.
//
// # Contract
//
// Nothing does I/O. First weights depend only on Config.Seed, the rest on the examples and their order: the same gives the
// same bits. Weights and activations are float32, and sums in a layer too, in a fixed order. Update and Scores
// allocate nothing once all features have occurred. A Model belongs to one goroutine.
package nn
