// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"slices"
)

// otherNames are options of other learners, with gvw's counterparts.
var otherNames = []struct {
	names []string
	here  string
}{
	{[]string{"lr", "eta", "eta0", "alpha0", "step_size"}, "the learning rate is --learning_rate X (-l X)"},
	{[]string{"epochs", "epoch", "num_epochs", "max_iter", "iterations", "n_iter"}, "the number of passes over the data is --passes N, with a cache (-c)"},
	{[]string{"num_threads", "n_threads", "nthread", "jobs", "n_jobs", "workers", "cores"}, "the number of threads that learn is --threads T; gvw run -n N -- OPTIONS trains with N processes"},
	{[]string{"output", "out", "model", "save", "model_file", "output_model"}, "the model is written by --final_regressor FILE (-f FILE), predictions by --predictions FILE (-p FILE)"},
	{[]string{"input", "train", "train_data", "training_data", "file"}, "data is given by --data FILE (-d FILE)"},
	{[]string{"test", "predict", "test_data"}, "predict by -d FILE -t -i MODEL -p PREDICTIONS"},
	{[]string{"load", "load_model", "init_model"}, "a model is loaded by --initial_regressor FILE (-i FILE)"},
	{[]string{"seed", "random_state"}, "the seed of random numbers is --random_seed N"},
	{[]string{"loss", "objective"}, "the loss function is --loss_function LOSS, such as logistic"},
	{[]string{"bits", "hash_bits"}, "the number of weights is 2^B by --bit_precision B (-b B)"},
	{[]string{"classes", "num_class", "num_classes"}, "K classes are learned by --oaa K"},
	{[]string{"verbose", "v"}, "progress is shown unless --quiet is given; --progress N sets how often"},
}

// otherName returns gvw's counterpart of an option of another learner, or "".
func otherName(name string) string {
	for _, o := range otherNames {
		if slices.Contains(o.names, name) {
			return o.here
		}
	}
	return ""
}

// otherCommands are commands of other learners, with gvw's counterparts.
var otherCommands = map[string]string{
	"train":    "gvw -d train.vw -f model trains",
	"learn":    "gvw -d train.vw -f model trains",
	"fit":      "gvw -d train.vw -f model trains",
	"predict":  "gvw -d test.vw -t -i model -p predictions predicts",
	"test":     "gvw -d test.vw -t -i model -p predictions predicts",
	"evaluate": "gvw -d test.vw -t -i model predicts and shows the loss",
	"server":   "the server is a program of its own, spanning_tree",
}
