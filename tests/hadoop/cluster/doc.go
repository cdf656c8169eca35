// SPDX-License-Identifier: Apache-2.0

// Package cluster starts a real Hadoop on this machine, for tests: NameNode, DataNode,
// ResourceManager, NodeManagers and JobHistoryServer, each a process of its own, of the
// jars that Apache publishes. Java 17 and Maven are all it needs.
//
//	jars, err := cluster.Fetch(ctx, cache, javaHome)          // once: 100 MB from Maven Central
//	c, err := cluster.Start(ctx, cluster.Config{Dir: dir, Jars: jars, Java: javaHome, Nodes: 2})
//	defer c.Stop()
//	c.Command(ctx, "hadoop", "fs", "-put", "x.vw", "/in").Run()
//	attempts, err := c.Attempts(ctx, job)
//
// Everything listens on the loopback, in a block of ports that is free, and writes
// below Dir; the shuffle ports of the NodeManagers bind all addresses, which cannot be
// told otherwise. [Cluster.Command] runs Hadoop's own commands as a user has them: hadoop,
// hdfs, mapred and yarn lie in Dir/bin, with HADOOP_CONF_DIR set.
//
// The settings are those of a small cluster that answers fast (site.go says why each is
// there): small heaps, short heartbeats, no checks of free disk or of memory.
//
// Stop ends what Start has started, by process id, the containers included. A cluster that was
// left behind by a test that was killed is found by its pid files and ended
// by the next Start with the same Dir.
package cluster
