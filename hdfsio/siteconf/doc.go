// SPDX-License-Identifier: Apache-2.0

// Package siteconf reads Hadoop's site files: which cluster is meant, where its
// name nodes are, and how clients log in.
//
//	c, err := siteconf.Load("/etc/hadoop/conf", nil)
//	nodes, err := c.NameNodes("", siteconf.RPC)  // of fs.defaultFS
//
// core-site.xml and hdfs-site.xml are read in this order; what comes later
// counts, unless what came before is final. A value's ${name} is another
// property, or what the caller's lookup gives for ${env.NAME}. An xi:include of a
// file beside is followed. A folder without either file is an error: a mistyped
// HADOOP_CONF_DIR would otherwise be found out much later, as a host that is not
// there. A zero Conf is that of a machine without Hadoop: only URLs that name
// host and port can be resolved.
package siteconf
