// SPDX-License-Identifier: Apache-2.0

// Package kerberos logs in to a realm for the clients of HDFS, with a ticket of kinit or with a keytab:
//
//	l := kerberos.Login{Conf: "/etc/krb5.conf", Keytab: "ada.keytab", Principal: "ada@EXAMPLE.ORG"}
//	c, err := l.Client()
//	defer c.Destroy()
//
// A client with a keytab gets a new ticket before its own expires, so it works for as long as a job runs. One with the
// ticket cache of kinit renews its ticket while the realm allows that; afterwards someone must call kinit again.
package kerberos
