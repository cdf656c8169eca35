// SPDX-License-Identifier: Apache-2.0

package org.gvw;

import org.apache.hadoop.mapreduce.v2.api.records.TaskId;
import org.apache.hadoop.mapreduce.v2.app.speculate.LegacyTaskRuntimeEstimator;

/**
 * Lets YARN start a second attempt of a slow map before any map has ended.
 *
 * <p>The speculator of MapReduce asks how long a task of the job may take at most, and the
 * estimators that come with it say "for ever" until some tasks have ended. Maps that wait for
 * each other end together, so among them nothing would ever be called slow. This one says that
 * every task may be: the speculator then takes the one whose end it expects last.
 */
public class EagerEstimator extends LegacyTaskRuntimeEstimator {
  @Override
  public long thresholdRuntime(TaskId task) {
    return 0;
  }
}
