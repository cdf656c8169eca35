// SPDX-License-Identifier: Apache-2.0

package native

import (
	"errors"
	"fmt"
	"strings"

	"github.com/colinmarc/hdfs/v2"
	"github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/keytab"
)

// Kerberos is a login with a ticket of kinit or with a keytab.
type Kerberos struct {
	// Conf is the file that names the realm's servers (krb5.conf). Required.
	Conf string
	// Cache is the file with the ticket; used without a Keytab.
	Cache string
	// Keytab is the file with the keys of Principal, NAME@REALM.
	Keytab, Principal string
	// Service is the name nodes' principal, dfs.namenode.kerberos.principal; its _HOST
	// is the name node's. Required.
	Service string
}

// Validate reports all missing fields.
func (k *Kerberos) Validate() error {
	var errs []error
	if k.Conf == "" {
		errs = append(errs, errors.New("native: Kerberos without Conf"))
	}
	if k.Cache == "" && k.Keytab == "" {
		errs = append(errs, errors.New("native: Kerberos with neither a ticket cache nor a keytab"))
	}
	if name, realm, _ := strings.Cut(k.Principal, "@"); k.Keytab != "" && (name == "" || realm == "") {
		errs = append(errs, fmt.Errorf("native: the keytab's principal: got %q, want NAME@REALM", k.Principal))
	}
	if k.Service == "" {
		errs = append(errs, errors.New("native: Kerberos without the name nodes' principal"))
	}
	return errors.Join(errs...)
}

// login sets the options of the library for the login.
func (k *Kerberos) login(opts *hdfs.ClientOptions) error {
	conf, err := config.Load(k.Conf)
	if err != nil {
		return fmt.Errorf("cannot read %s (KRB5_CONFIG): %w", k.Conf, err)
	}
	if k.Keytab != "" {
		keys, err := keytab.Load(k.Keytab)
		if err != nil {
			return fmt.Errorf("cannot read the keytab %s: %w", k.Keytab, err)
		}
		name, realm, _ := strings.Cut(k.Principal, "@")
		opts.KerberosClient = client.NewWithKeytab(name, realm, keys, conf, client.DisablePAFXFAST(true))
	} else {
		cache, err := credentials.LoadCCache(k.Cache)
		if err != nil {
			return fmt.Errorf("cannot read the ticket cache %s (KRB5CCNAME): %w: run kinit", k.Cache, err)
		}
		if opts.KerberosClient, err = client.NewFromCCache(cache, conf, client.DisablePAFXFAST(true)); err != nil {
			return fmt.Errorf("the ticket cache %s cannot be used: %w: run kinit", k.Cache, err)
		}
	}
	opts.KerberosServicePrincipleName, _, _ = strings.Cut(k.Service, "@")
	return nil
}
