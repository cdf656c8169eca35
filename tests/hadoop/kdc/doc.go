// SPDX-License-Identifier: Apache-2.0

// Package kdc runs a Kerberos server of a realm of its own, MIT's krb5kdc, on a loopback address, for tests of a
// Hadoop cluster with logins:
//
//	k, err := kdc.Start(ctx, dir)
//	defer k.Stop()
//	keytab, err := k.Keytab("ada", kdc.Principal{Name: "ada"})
//
// It needs Debian's krb5-kdc, krb5-admin-server and krb5-user. Nothing outside of dir is read or written.
package kdc
