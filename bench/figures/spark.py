# SPDX-License-Identifier: Apache-2.0
"""The peers of the averaging figures: MLlib's logistic regression on Spark's local-cluster.

spark.py FILE FEATURES LAMBDA RANKS

FILE is LIBSVM text. The objective is the mean log loss + LAMBDA/2 |w|^2, without an intercept. For each system and
number of iterations it prints "SYSTEM|ITERATIONS|SECONDS|OBJECTIVE". Seconds are those of training, with the data in
the cache of the workers.
"""
import os
import sys
import time

import numpy as np

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)


def main():
    name, features, lam, ranks = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
    import pyspark
    from pyspark.ml.classification import LogisticRegression
    from pyspark.mllib.classification import LogisticRegressionWithSGD
    from pyspark.mllib.linalg import Vectors
    from pyspark.mllib.regression import LabeledPoint
    from pyspark.sql import SparkSession
    spark = (SparkSession.builder.master("local-cluster[%d,1,1024]" % ranks).appName("figures")
             .config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false").config("spark.executor.memory", "1g").getOrCreate())
    spark.sparkContext.setLogLevel("ERROR")
    print("version|%s" % pyspark.__version__, flush=True)
    rows = [line.split() for line in open(name)]
    labels = np.array([1.0 if r[0] == "1" else -1.0 for r in rows])
    pairs = [[(int(k), float(v)) for k, v in (x.split(":") for x in r[1:])] for r in rows]

    def objective(w):
        margins = np.array([sum(w[k - 1] * v for k, v in p) for p in pairs]) * labels
        return np.logaddexp(0, -margins).mean() + lam / 2 * (w @ w)

    frame = spark.read.format("libsvm").option("numFeatures", str(features)).load(name).repartition(ranks).cache()
    frame.count()

    def lbfgs(n):
        m = LogisticRegression(maxIter=n, regParam=lam, elasticNetParam=0.0, tol=0.0, fitIntercept=False, standardization=False)
        from pyspark.sql.functions import when
        return m.fit(frame.withColumn("label", when(frame.label > 0, 1.0).otherwise(0.0))).coefficients.toArray()

    points = spark.sparkContext.parallelize(
        [LabeledPoint(1.0 if y > 0 else 0.0, Vectors.sparse(features, [(k - 1, v) for k, v in p])) for y, p in zip(labels, pairs)], ranks).cache()
    points.count()

    def sgd(step):
        return lambda n: np.array(LogisticRegressionWithSGD.train(
            points, iterations=n, step=step, miniBatchFraction=1.0, regParam=lam, regType="l2", intercept=False, convergenceTol=0.0).weights.toArray())

    lbfgs(1)
    best = min([1.0, 10.0, 100.0], key=lambda step: objective(sgd(step)(10)))
    for system, train, counts in (("MLlib L-BFGS", lbfgs, (1, 2, 3, 4, 5, 6, 8, 10, 20)), ("MLlib SGD, step %g" % best, sgd(best), (1, 3, 10, 20, 30, 50, 100))):
        for n in counts:
            begun = time.time()
            w = train(n)
            print("%s|%d|%.4f|%.8f" % (system, n, time.time() - begun, objective(w)), flush=True)
    spark.stop()


main()
