// SPDX-License-Identifier: Apache-2.0

package kerberos

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/keytab"
)

// Login is a login with a ticket of kinit or with a keytab.
type Login struct {
	// Conf is the file that names the realm's servers (krb5.conf). Required.
	Conf string
	// Cache is the file with the ticket; used without a Keytab.
	Cache string
	// Keytab is the file with the keys of Principal, NAME@REALM.
	Keytab, Principal string
}

// Validate reports all missing fields.
func (l *Login) Validate() error {
	var errs []error
	if l.Conf == "" {
		errs = append(errs, errors.New("kerberos: Conf is empty"))
	}
	if l.Cache == "" && l.Keytab == "" {
		errs = append(errs, errors.New("kerberos: Cache and Keytab are both empty"))
	}
	if name, realm, _ := strings.Cut(l.Principal, "@"); l.Keytab != "" && (name == "" || realm == "") {
		errs = append(errs, fmt.Errorf("kerberos: the keytab's Principal: got %q, want NAME@REALM", l.Principal))
	}
	return errors.Join(errs...)
}

// String returns the principal, or the file with its ticket.
func (l *Login) String() string {
	if l.Keytab != "" {
		return l.Principal
	}
	return "the ticket in " + l.Cache
}

// Client returns a client of the realm's servers. It asks them at the first use. The caller ends it by Destroy.
func (l *Login) Client() (*client.Client, error) {
	// The causes are not wrapped: a missing file of the login is not a missing file of HDFS.
	conf, err := config.Load(l.Conf)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s (KRB5_CONFIG): %v", l.Conf, err)
	}
	if l.Keytab != "" {
		keys, err := keytab.Load(l.Keytab)
		if err != nil {
			return nil, fmt.Errorf("cannot read the keytab %s: %v", l.Keytab, err)
		}
		name, realm, _ := strings.Cut(l.Principal, "@")
		return client.NewWithKeytab(name, realm, keys, conf, client.DisablePAFXFAST(true)), nil
	}
	cache, err := credentials.LoadCCache(l.Cache)
	if err != nil {
		return nil, fmt.Errorf("cannot read the ticket cache %s (KRB5CCNAME): %v: run kinit", l.Cache, err)
	}
	c, err := client.NewFromCCache(cache, conf, client.DisablePAFXFAST(true))
	if err != nil {
		return nil, fmt.Errorf("the ticket cache %s cannot be used: %v: run kinit", l.Cache, err)
	}
	return c, nil
}
