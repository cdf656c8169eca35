// SPDX-License-Identifier: Apache-2.0

package compat

// learners are the reductions that gvw has, or will have.
var learners = []group{
	{"Importance Weight Classes", []row{
		{"classweight*", Works, "also --class_weights; several after one name stand with commas; beside --probabilities or --scores, too, where vw refuses it"},
	}},
	{"Binary Loss", []row{
		{"binary", Works, ""},
	}},
	{"Boosting", []row{
		{"boosting=", Works, "with --alg logistic and adaptive in one process, and models of these resume without vw's two lines on stderr"},
		{"gamma=", Works, ""},
		{"alg=", Works, ""},
	}},
	{"Bootstrap", []row{
		{"bootstrap=", Works, "without --link; models of several learners resume with the sums of the first one, as vw's do"},
		{"bs_type=", Works, ""},
	}},
	{"Conjugate Gradient", []row{
		{"conjugate_gradient", Works, ""},
	}},
	{"Cost Sensitive One Against All", []row{
		{"csoaa=", Works, "in vw's text, and without --link, --binary and --named_labels; a class in the label that is no number is left out, where vw takes its hash for a number; without a label 0 in the data classes count from 1"},
		{"cs_absolute_loss", Works, ""},
	}},
	{"Count label", []row{
		{"dont_output_best_constant", Works, ""},
	}},
	{"Debug Metrics", []row{
		{"extra_metrics=", Works, "in one process; total_log_calls counts gvw's warnings, in vw its own log lines; a file that cannot be made is an error, in vw a warning"},
	}},
	{"Error Correcting Tournament", []row{
		{"ect=", Works, "an example whose label is no class is not learned, from which vw learns anything; --link identity or logistic, without --binary and --named_labels"},
		{"error=", Works, "up to 16"},
	}},
	{"Follow the Regularized Leader - Coin", []row{
		{"coin", Works, "in one process, also with --oaa"},
		{"ftrl_alpha=", Works, "0 or more; of 0 --ftrl and --pistol compute infinite numbers, where gvw ends"},
		{"ftrl_beta=", Works, "0 or more"},
	}},
	{"Follow the Regularized Leader - FTRL", []row{
		{"ftrl", Works, "in one process, also with --oaa"},
	}},
	{"Follow the Regularized Leader - Pistol", []row{
		{"pistol", Works, "in one process, also with --oaa"},
	}},
	{"FreeGrad", []row{
		{"freegrad", Works, "in one process, also with --oaa"},
		{"restart", Works, "models do not keep it and the next four, as in vw"},
		{"project", Works, "vw's models lack what the radius has grown by, so training from one begins with the radius at the start, as in vw"},
		{"radius=", Works, "above 0"},
		{"fepsilon=", Works, "above 0"},
		{"flipschitz_const=", Works, "0 or more"},
	}},
	{"Gradient Descent Matrix Factorization", []row{
		{"rank=", Works, "total feature number counts products, in vw factors; --readable_model has weights, where vw prints addresses"},
	}},
	{"Gradient Descent", []row{
		{"sgd", Works, ""},
		{"adaptive", Works, ""},
		{"adax", Works, ""},
		{"invariant", Works, ""},
		{"normalized", Works, ""},
		{"sparse_l2=", Works, ""},
		{"l1_state=", Works, "on a cluster what is due is applied before weights are averaged; vw averages raw weights, whose ranks then predict differently"},
		{"l2_state=", Works, "likewise"},
		{"per_model_save_load", Silent, "models of --oaa always keep what each class needs to go on"},
	}},
	{"LBFGS and Conjugate Gradient", []row{
		{"bfgs", Works, "as vw 7.10 does; --bfgs_semantics vw9 as 9 does (bfgs.md); total feature number counts products, too"},
		{"hessian_on", Works, ""},
		{"mem=", Works, ""},
		{"termination=", Works, ""},
	}},
	{"Latent Dirichlet Allocation", []row{
		{"lda=", Works, "-t learns nothing, where vw 9 goes on learning; nothing is held out, where vw learns from held-out documents, too; a last batch of a pass that is not full is learned from once, where vw also puts its documents, without their words, into the first batch of the next pass, and leaves them out of -p; when the last batch is full, vw counts a batch of empty documents after it; -r is refused: -p has all topics"},
		{"lda_alpha=", Works, ""},
		{"lda_rho=", Works, ""},
		{"lda_D=", Works, ""},
		{"lda_epsilon=", Works, ""},
		{"minibatch=", Works, ""},
		{"math_mode=", Works, "vw's name is --math-mode; 1 computes in float64; 0 and 2 compute in float32 with a relative error of 1e-5, where vw's have 1e-4"},
		{"metrics", Refused, "vw's belongs to --lda; gvw's own --metrics NAMES measures predictions"},
	}},
	{"Logarithmic Time Multiclass Tree", []row{
		{"log_multi=", Works, "in one process, up to 65,536, without --link, --binary and --named_labels"},
		{"no_progress", Works, "only sets a flag of the model, as in vw"},
		{"swap_resistance=", Works, "1 or more; of 0 vw does not end; a model that is loaded has its own, as in vw"},
	}},
	{"Low Rank Quadratics FA", []row{
		{"lrqfa=", Works, "without interactions"},
	}},
	{"Low Rank Quadratics", []row{
		{"lrq*", Works, "without interactions, and without --oaa, --bootstrap and other learners of this kind; a cache of an earlier run has other first weights for anonymous features and n-grams"},
		{"lrqdropout", Works, ""},
	}},
	{"Marginal", []row{
		{"marginal=", Works, "in one process, without interactions of its namespaces, and without vw's warnings of pairs that it leaves out; a server that learns keeps no new ids of examples without labels"},
		{"initial_denominator=", Works, ""},
		{"initial_numerator=", Works, ""},
		{"compete", Works, "a model that has experts needs no --compete at -i, without which vw cannot read it"},
		{"update_before_learn", Works, "refused beside --marginal: vw 9.11.9 never updates the means with it"},
		{"unweighted_marginals", Works, ""},
		{"decay=", Works, ""},
	}},
	{"Matrix Factorization Reduction", []row{
		{"new_mf=", Works, "namespaces are crossed in pairs, without wildcards"},
	}},
	{"Multilabel One Against All", []row{
		{"multilabel_oaa=", Works, "in vw's text, without --probabilities, --binary and --named_labels; --link identity or logistic"},
	}},
	{"Neural Network", []row{
		{"nn=", Works, ""},
		{"inpass", Works, ""},
		{"multitask", Works, "no effect without classes, as in vw"},
		{"dropout", Works, ""},
		{"meanfield", Works, ""},
	}},
	{"One Against All", []row{
		{"oaa=", Works, "models of SGD keep every class's sums (--per_model_save_load), so training resumes exactly; if the data decides that labels count from 0, they keep that, too. On a cluster labels count from 1 unless --indexing 0. A malformed label is left out with a warning, where vw reads nothing more"},
		{"oaa_subsample=", Works, "labeled examples count as labeled, in vw as unlabeled; with labels from 0 vw samples the right class instead of another one"},
		{"probabilities", Works, "examples without a label, such as -1, show as unknown and do not raise the average loss; in vw they show as 4294967295 and raise it; with a holdout set the log loss is that of the set; the log loss of a label that is no class's is 999, in vw that of another class"},
		{"scores", Works, "likewise for examples without a label"},
		{"indexing=", Works, "-r with labels from 0 has each score under its own label; vw's are shifted by one"},
	}},
	{"Stochastic Variance Reduced Gradient", []row{
		{"svrg", Works, "also on several ranks; passes end where the data does, where vw begins the next one up to 256 examples early; vw only begins stages without --quiet; the held-out loss ends training as otherwise, in vw it counts for nothing; total feature number counts products, too"},
		{"stage_size=", Works, "1 or more"},
	}},
	{"Scorer", []row{
		{"link=", Works, "with --oaa only in tests, or with --ftrl, --pistol and --coin: as vw learns by SGD, it takes the linked scores for raw ones"},
	}},
	{"Stagewise Polynomial", []row{
		{"stage_poly", Works, "in one process, and without wildcards in interactions"},
		{"sched_exponent=", Works, "0 or more; with less than 0 vw crashes"},
		{"batch_sz=", Works, ""},
		{"batch_sz_no_doubling", Works, ""},
	}},
}
