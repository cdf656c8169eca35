// SPDX-License-Identifier: Apache-2.0

// Package malt trains on several machines without a master: each rank works on its own share of the data,
// pushes its model or its gradients to some other ranks, and merges what has arrived.
//
// A serial learner becomes parallel by a few lines:
//
//	g, err := malt.Join(ctx, malt.Config{Server: "gateway", Job: job, Rank: rank, Total: total})
//	w, err := malt.NewVector[float32](g, "weights", length, malt.VectorConfig{Graph: "halton"})
//	for batch := range batches {
//		learn(w.Values(), batch)                          // as before
//		err = w.Scatter(ctx)                              // to the neighbours in the graph
//		_, err = w.Gather(ctx, malt.AverageIncludingSelf) // of what has arrived from them
//	}
//	err = g.Done(ctx)
//
// All ranks create the same vectors in the same order. A difference is an error that names both ranks, the
// vector and the field.
//
// # Graphs
//
// A vector's graph has an edge from each rank to those that it sends to. VectorConfig.Graph names one of package
// graph: with "all" models stay close together, with "halton" or "one_peer" a round costs much less. Each vector
// of a job may have another one.
//
// # Synchrony
//
// VectorConfig.Sync decides for whom a rank waits: "asp" for no one, "bsp" for all, "ssp:S" for senders
// that are more than S rounds behind, and "notify_ack" until its receivers have merged its last update. A round is
// a Scatter followed by a Gather.
//
// # Queues
//
// Each receiver has a queue of VectorConfig.Depth updates for each sender. In a full queue the
// newest update overwrites the oldest one; [Vector.Stats] counts them. An update is verified by a checksum before it
// counts as arrived, and a damaged one is dropped.
//
// # Shared memory and RDMA
//
// A rank writes its updates straight into the receive queues of ranks on the same machine, without their help, unless
// Config.NoSharedMemory is set; with Config.Verbs also of ranks on other machines, by RDMA. The sender may then
// overwrite an update while it is merged. Stochastic training tolerates that; where it does not, [Vector.AtomicGather]
// and [Segment.AtomicGather] merge copies that are never torn.
//
// # Losses
//
// With Config.OnLoss Shrink the survivors of a loss continue: the server announces the new membership, graphs are built
// again for the survivors, and updates of the lost rank go nowhere. A call that waits for a lost rank returns
// without its update. With Wait the job waits for another attempt of the rank, whose vectors begin with the
// values of a rank that has trained ([Group.Inherits]). With Grow the survivors continue, and take such an
// attempt back when it comes; so they do with a rank that was missing at the start (Config.Elastic). With Abort all
// ranks fail with the same error, which names the lost rank.
//
// A change of the membership drops the updates that have been sent and not merged. The rounds of a vector are counted
// over all memberships, so ranks that the change has left a round behind catch up, and no rank waits for a round that
// another has sent before. A rank that joins late with several vectors continues each of them in the round of its
// [Vector.Iteration].
//
// [Group.Epoch] counts the memberships, and [Group.Shares] returns the shares of the data that this rank works on now.
// [Group.Protect] reports a failure of the learner as this rank's own.
//
// With Wait and Grow, all vectors of a group are used by one goroutine: while it is in a call their values may be
// copied for a new rank.
//
// # What is missing
//
// RDMA writes have not run on real adapters.
//
// Source: Li, Kadav, Kruus, Ungureanu, "MALT: distributed data-parallelism for existing ML applications",
// EuroSys 2015.
package malt
