#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The mapper of a streaming job, for those who have a script of this name for vw. One map
# is one rank: Hadoop's environment says which, of MapReduce 1 and of YARN.
#
#   hadoop jar hadoop-streaming.jar -numReduceTasks 0 -files gvw,runvw.sh \
#       -input IN -output OUT -mapper runvw.sh
#   -mapper 'runvw.sh -b 20 --hybrid 2:18'          the learner's options instead of ours
#
# One call of gvw does what vw needs two for, and survives the loss of any map at any
# time. The model is OUT/model, rank 0's log OUT/log, from the attempt that Hadoop
# counts, and only if all went well.
#
#   RUNVW_TWO_CALLS=1   (-cmdenv) SGD and L-BFGS in two calls, as with vw. Between
#                       the calls nothing is recovered: a map that is lost there fails the
#                       job. The options given are those of both calls.
#   RUNVW_SGD, RUNVW_BFGS
#                       what each of the two calls is given besides (-cmdenv cannot
#                       hold blanks: -D runvw.sgd='…' reaches us as runvw_sgd)
#   GVW                 the program, ./gvw if it is not said
set -euo pipefail

gvw=${GVW:-./gvw}
[ $# -gt 0 ] || set -- -b 24 --loss_function logistic
if [ "${RUNVW_TWO_CALLS:-0}" != 1 ]; then
	# Options that choose the passes, a solver, or a learner that has no L-BFGS.
	chosen="passes|hybrid|bfgs|conjugate_gradient|solver|save_per_pass|testonly|malt|ftrl|pistol|coin|freegrad|svrg|lda|oaa|ect|csoaa"
	chosen+="|multilabel_oaa|log_multi|boosting|bootstrap|nn|lrq|lrqfa|new_mf|rank|marginal|stage_poly|quantiles"
	# A value follows a blank or "=".
	[[ " $* " =~ \ (--($chosen)|-t)[\ =] ]] || set -- "$@" --hybrid 1:20 --mem 5
	exec "$gvw" mapper --log log -- "$@" -f model
fi

read -ra sgd <<<"${RUNVW_SGD:-${runvw_sgd:---passes 1}}"
read -ra bfgs <<<"${RUNVW_BFGS:-${runvw_bfgs:---passes 20 --mem 5}}"
temp="$PWD/temp.{rank}" # each rank has its own: all are the same
"$gvw" mapper --phase 1 -- "$@" "${sgd[@]}" --holdout_off --cache_file temp.cache -f "$temp" --predict_only_model
exec "$gvw" mapper --phase 2 --log log -- "$@" --bfgs "${bfgs[@]}" --holdout_off --cache_file temp.cache -i "$temp" -f model
