// SPDX-License-Identifier: Apache-2.0

// Package siteconf reads Hadoop's site files, which name the cluster, its
// name nodes, and the login of clients.
//
//	c, err := siteconf.Load("/etc/hadoop/conf", nil)
//	nodes, err := c.NameNodes("", siteconf.RPC)  // of fs.defaultFS
//
// core-site.xml and hdfs-site.xml are read in this order. A later value replaces an
// earlier one that is not final. ${name} in a value is another
// property; ${env.NAME} is the result of the caller's lookup. An xi:include of a
// file in the same directory is followed. A directory without either file is an error: a
// mistyped HADOOP_CONF_DIR would otherwise appear only later, as an unknown host. The zero
// Conf is for a machine without Hadoop: it resolves only URLs that name host and
// port.
package siteconf
